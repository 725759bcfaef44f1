package dev.idempotent.benchmark.state;

import java.io.IOException;
import java.time.Duration;
import java.util.List;

import dev.idempotent.benchmark.Database;
import dev.idempotent.benchmark.Load;
import dev.idempotent.benchmark.Machine;
import dev.idempotent.benchmark.Report;
import dev.idempotent.benchmark.Rounds;
import dev.idempotent.benchmark.Settings;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Measures moves and prints a table; docs/benchmark.md says how to repeat it.
 */
class MoveBenchmark {

	private static final Settings settings = new Settings();

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.dedicatedWith("fsync=" + settings.text("fsync", "on"));

	@Test
	void measures() throws IOException {
		Database database = Database.create(postgres, "moves");
		int clients = settings.number("clients", 4);
		Orders orders = Orders.create(
				postgres.connect("jdbc:postgresql://" + postgres.host() + ":" + postgres.port() + "/moves"), database,
				clients);
		Report report = new Report();
		new Rounds(settings.number("warm-up", 5), settings.number("rounds", 25)).run(List
			.of(new MoveScenario(orders, new Load(clients), Duration.ofMillis(settings.number("move-millis", 1000)))),
				report, Machine.with(postgres));
		report.publish("moves", Database.describe(postgres), settings);
	}

}
