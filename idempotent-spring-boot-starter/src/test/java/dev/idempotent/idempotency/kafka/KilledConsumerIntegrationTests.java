package dev.idempotent.idempotency.kafka;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.idempotency.kafka.MortalConsumer.Book;
import dev.idempotent.idempotency.kafka.MortalConsumer.Death;
import dev.idempotent.idempotency.kafka.PaymentListeners.Payment;
import dev.idempotent.testing.RealKafka;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.kafka.support.serializer.JacksonJsonSerializer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.awaitility.Durations.FIVE_HUNDRED_MILLISECONDS;

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

	/**
	 * Lets one consumer after the other die, each within a few payments, and the last one
	 * finish.
	 */
	static class Kills {

		private static final List<Death.At> INSTANTS = List.copyOf(EnumSet.allOf(Death.At.class));

		/**
		 * A consumer may do as many payments before it dies.
		 */
		private static final int MOST = 5;

		private static final int PATIENCE_SECONDS = 180;

		private final RealKafka kafka;

		private final String topic;

		private final List<String> properties;

		private final Random random;

		private final Map<Death.At, Integer> deaths = new EnumMap<>(Death.At.class);

		Kills(RealKafka kafka, String topic, List<String> properties, long seed) {
			this.kafka = kafka;
			this.topic = topic;
			this.properties = properties;
			this.random = new Random(seed);
		}

		/**
		 * Kills so many consumers.
		 * @return how many events there were, each of them twice on the topic
		 */
		int run(int kills) throws IOException, InterruptedException, ExecutionException {
			int events = kills * (MOST + 1) + MOST;
			send(events);
			for (int i = 0; i < kills; i++) {
				Death.At instant = INSTANTS.get(this.random.nextInt(INSTANTS.size()));
				Process consumer = start(List.of("death.instant=" + instant, "death.times=" + between1AndMost()));
				assertThat(consumer.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)).as("death in time, see %s", log())
					.isTrue();
				assertThat(consumer.exitValue()).as("status of the consumer, see %s", log()).isEqualTo(Death.STATUS);
				this.deaths.merge(instant, 1, Integer::sum);
			}
			Process last = start(List.of());
			try {
				await().atMost(PATIENCE_SECONDS, TimeUnit.SECONDS)
					.pollInterval(FIVE_HUNDRED_MILLISECONDS)
					.until(() -> this.kafka.acknowledged(this.topic) == 2L * events);
			}
			finally {
				last.destroyForcibly().waitFor();
			}
			return events;
		}

		Map<Death.At, Integer> deaths() {
			return this.deaths;
		}

		private int between1AndMost() {
			return 1 + this.random.nextInt(MOST);
		}

		private void send(int events) throws InterruptedException, ExecutionException {
			try (KafkaProducer<String, Payment> producer = new KafkaProducer<>(
					Map.of("bootstrap.servers", this.kafka.address()), new StringSerializer(),
					new JacksonJsonSerializer<>())) {
				for (int i = 0; i < 2 * events; i++) {
					String id = this.topic + "-" + i / 2;
					producer.send(new ProducerRecord<>(this.topic, i % RealKafka.PARTITIONS, id, new Payment(id, 10)))
						.get();
				}
			}
		}

		private Process start(List<String> death) throws IOException {
			List<String> command = new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java", "-Xmx256m",
					"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp",
					System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
					MortalConsumer.class.getName(), "kills.topic=" + this.topic, "logging.level.root=warn",
					"spring.kafka.consumer.max-poll-records=" + MOST));
			command.addAll(this.properties);
			command.addAll(death);
			return new ProcessBuilder(command).redirectErrorStream(true)
				.redirectOutput(ProcessBuilder.Redirect.appendTo(log()))
				.start();
		}

		private File log() {
			return new File("target", "kills-" + this.topic + ".log");
		}

	}

}
