package dev.idempotent.idempotency.kafka;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.kafka.PaymentListeners.Deliveries;
import dev.idempotent.idempotency.kafka.PaymentListeners.Payment;
import dev.idempotent.idempotency.kafka.PaymentListeners.Refund;
import dev.idempotent.testing.Gate;
import dev.idempotent.testing.RealKafka;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.util.Assert;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Listeners whose method runs once per event, however often it is delivered.
 */
class KafkaListenersIntegrationTests {

	@RegisterExtension
	static final RealKafka kafka = RealKafka.withTopics("payments", "movements", "leased");

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	private static @Nullable ConfigurableApplicationContext application;

	@BeforeAll
	static void start() {
		List<String> properties = new ArrayList<>(List.of("idempotent.namespace=kafka-listeners"));
		properties.addAll(kafka.properties());
		properties.addAll(postgres.properties());
		properties.addAll(redis.properties());
		application = KafkaApplication.start(PaymentListeners.class, properties);
	}

	@AfterAll
	static void stop() {
		if (application != null) {
			application.close();
		}
	}

	@Tag("long")
	@Test
	void runDuplicatesOnceThoughTwoGroupsTakeThemFromAllPartitions() {
		for (int i = 0; i < 6; i++) {
			send("payments", i % RealKafka.PARTITIONS, new Payment("duplicated", 10));
		}
		await().until(() -> deliveries().taken("duplicated") == 12);
		assertThat(ledger().count("duplicated")).isOne();
	}

	@Test
	void rollBackWithAnExceptionAndRunTheRedelivery() {
		bean(PaymentListeners.Script.class).failing = "failing";
		send("payments", 0, new Payment("failing", 10));
		await().until(() -> deliveries().taken("failing") == 2);
		assertThat(deliveries().failures("failing")).contains(IllegalStateException.class);
		assertThat(ledger().count("failing")).isOne();
	}

	@Test
	void waitForAKeyForLongerThanTheDefaultHandlerWould() throws Exception {
		Gate gate = new Gate();
		bean(PaymentListeners.Script.class).held = gate;
		CompletableFuture<Void> elsewhere = CompletableFuture.runAsync(
				() -> bean(PaymentListeners.Payments.class).pay(new Payment("held", 10)),
				(task) -> new Thread(task).start());
		gate.awaitEntry();
		send("payments", 0, new Payment("held", 10));
		// The default handler would have given up in a moment.
		await().during(Duration.ofSeconds(2))
			.until(() -> deliveries().failures("held").size() >= 2 && deliveries().recovered("held") == 0);
		assertThat(deliveries().failures("held")).containsOnly(IdempotencyPendingException.class);
		bean(PaymentListeners.Script.class).failing = "held";
		gate.open();
		assertThatExceptionOfType(CompletionException.class).isThrownBy(elsewhere::join);
		await().until(() -> deliveries().taken("held") == 2);
		assertThat(ledger().count("held")).isOne();
	}

	@Test
	void giveARecordThatContradictsItsKeyToTheRecovererAtOnce() {
		send("payments", 0, new Payment("contradicted", 10));
		await().until(() -> deliveries().taken("contradicted") == 2);
		send("payments", 0, "other", new Payment("contradicted", 11));
		await().until(() -> deliveries().recovered("other") == 2);
		assertThat(deliveries().failures("other")).containsExactly(IdempotencyMismatchException.class,
				IdempotencyMismatchException.class);
		assertThat(ledger().count("contradicted")).isOne();
		send("payments", 0, new Payment("next", 10));
		await().until(() -> deliveries().taken("next") == 2);
	}

	@Test
	void runEachHandlerOfAClassOnce() {
		for (int i = 0; i < 3; i++) {
			send("movements", i % RealKafka.PARTITIONS, "paid", new Payment("moved", 10));
			send("movements", i % RealKafka.PARTITIONS, "refunded", new Refund("moved"));
		}
		await().until(() -> deliveries().taken("paid") == 3 && deliveries().taken("refunded") == 3);
		assertThat(ledger().count("payment moved")).isOne();
		assertThat(ledger().count("refund moved")).isOne();
	}

	@Test
	void completeAfterTheCommitUnderALease() throws Exception {
		PaymentListeners.Leased leased = bean(PaymentListeners.Leased.class);
		Gate committed = bean(PaymentListeners.Script.class).committed;
		send("leased", 0, new Payment("leased", 10));
		committed.awaitEntry();
		assertThat(ledger().count("leased")).isOne();
		assertThatExceptionOfType(IdempotencyPendingException.class)
			.isThrownBy(() -> leased.pay(new Payment("leased", 10)));
		committed.open();
		send("leased", 1, new Payment("leased", 10));
		await().until(() -> deliveries().taken("leased") == 2);
		assertThat(ledger().count("leased")).isOne();
	}

	private static void send(String topic, int partition, Payment payment) {
		send(topic, partition, payment.id(), payment);
	}

	@SuppressWarnings("unchecked")
	private static void send(String topic, int partition, String key, Object event) {
		bean(KafkaTemplate.class).send(topic, partition, key, event).join();
	}

	private static Deliveries deliveries() {
		return bean(Deliveries.class);
	}

	private static Ledger ledger() {
		return bean(Ledger.class);
	}

	private static <T> T bean(Class<T> type) {
		Assert.state(application != null, "The application is only there while its test class runs");
		return application.getBean(type);
	}

}
