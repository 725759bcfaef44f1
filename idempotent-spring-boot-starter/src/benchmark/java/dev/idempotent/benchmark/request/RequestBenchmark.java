package dev.idempotent.benchmark.request;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;

import dev.idempotent.benchmark.Contender;
import dev.idempotent.benchmark.Database;
import dev.idempotent.benchmark.Load;
import dev.idempotent.benchmark.Machine;
import dev.idempotent.benchmark.Report;
import dev.idempotent.benchmark.Rounds;
import dev.idempotent.benchmark.Settings;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Measures what meters, traces and encryption add to a request and prints a table;
 * docs/benchmark.md says how to repeat it and what the rows mean.
 */
class RequestBenchmark {

	private static final Settings settings = new Settings();

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.dedicatedWith("fsync=" + settings.text("fsync", "on"));

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	@Test
	void measures() throws IOException {
		List<RequestContender> contenders = List.of(RequestContender.plain(postgres, redis),
				RequestContender.withMeters(postgres, redis), RequestContender.withTracer(postgres, redis),
				RequestContender.withTraces(postgres, redis), RequestContender.withEncryption(postgres, redis));
		try {
			Report report = new Report();
			RequestScenario scenario = new RequestScenario(contenders,
					Map.of("meters", "plain", "tracer", "plain", "traces", "tracer", "encryption", "plain"),
					new Load(settings.number("clients", 4)),
					Duration.ofMillis(settings.number("request-millis", 1000)));
			new Rounds(settings.number("warm-up", 3), settings.number("rounds", 15)).run(List.of(scenario), report,
					Machine.with(postgres, redis));
			report.publish("requests", Database.describe(postgres), settings);
		}
		finally {
			contenders.forEach(Contender::close);
		}
	}

}
