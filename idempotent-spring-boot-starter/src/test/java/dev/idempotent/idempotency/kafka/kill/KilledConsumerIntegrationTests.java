package dev.idempotent.idempotency.kafka.kill;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.testing.RealKafka;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Consumers that die at any instant between the effect of a record and its
 * acknowledgement. The system property {@code consumer.kills} says how many; stated, the
 * other stores and guarantees have their turn too.
 */
@Tag("long")
class KilledConsumerIntegrationTests {

	private static final String KILLS = "consumer.kills";

	@RegisterExtension
	static final RealKafka kafka = RealKafka.withTopics("transaction", "transaction-jdbc", "lease");

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@Test
	void haveEachEffectOnceInATransaction() throws Exception {
		assertThat(killConsumers("transaction", "idempotent.guarantee=transaction").doubled()).isZero();
	}

	@Test
	@EnabledIfSystemProperty(named = KILLS, matches = ".+")
	void haveEachEffectOnceInATransactionWithoutRedis() throws Exception {
		assertThat(killConsumers("transaction-jdbc", "idempotent.guarantee=transaction", "idempotent.store=jdbc")
			.doubled()).isZero();
	}

	@Test
	@EnabledIfSystemProperty(named = KILLS, matches = ".+")
	void doubleEffectsUnderALeaseOnlyByDyingAfterTheirCommit() throws Exception {
		Outcome outcome = killConsumers("lease", "idempotent.guarantee=lease");
		assertThat(outcome.doubled()).isBetween((outcome.diedAfterCommit() > 0) ? 1 : 0, outcome.diedAfterCommit());
	}

	/**
	 * Lets consumers die, looks that no event was lost, and prints the figures.
	 */
	private static Outcome killConsumers(String topic, String... settings) throws Exception {
		long seed = Long.getLong("consumer.seed", new Random().nextLong());
		List<String> properties = new ArrayList<>(List.of("idempotent.namespace=" + topic, "idempotent.lease=5s"));
		properties.addAll(kafka.properties());
		properties.addAll(postgres.properties());
		properties.addAll(redis.properties());
		properties.addAll(List.of(settings));
		try (HikariDataSource dataSource = postgres.connect()) {
			Book book = new Book(dataSource);
			book.open();
			Kills kills = new Kills(kafka, topic, properties, seed);
			int events = kills.run(Integer.getInteger(KILLS, 3));
			System.out.printf(
					"%s: deaths %s, %d events in %d records, %d deliveries, %d of them refused, "
							+ "%d events without effect, %d with several (seed %d)%n",
					topic, kills.deaths(), events, 2 * events, book.deliveries(), book.refusals(),
					events - book.events(), book.doubled(), seed);
			assertThat(book.events()).as("events with an effect").isEqualTo(events);
			return new Outcome(book.doubled(), kills.deaths().getOrDefault(Death.At.AFTER_THE_COMMIT, 0));
		}
	}

	/**
	 * What came of it.
	 *
	 * @param doubled how many events had more than one effect
	 * @param diedAfterCommit how many consumers died when their effect had just stayed
	 */
	private record Outcome(int doubled, int diedAfterCommit) {
	}

}
