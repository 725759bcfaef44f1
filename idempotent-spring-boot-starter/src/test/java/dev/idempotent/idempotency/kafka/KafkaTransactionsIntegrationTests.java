package dev.idempotent.idempotency.kafka;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.kafka.PaymentListeners.Deliveries;
import dev.idempotent.idempotency.kafka.PaymentListeners.Payment;
import dev.idempotent.testing.Gate;
import dev.idempotent.testing.RealKafka;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.DefaultAfterRollbackProcessor;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Listeners in Kafka transactions.
 */
class KafkaTransactionsIntegrationTests {

	@RegisterExtension
	static final RealKafka kafka = RealKafka.withTopics("settled")
		.with("transaction.state.log.num.partitions", "1")
		.with("transaction.state.log.replication.factor", "1")
		.with("transaction.state.log.min.isr", "1");

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@Test
	void waitForAKeyForLongerThanTheDefaultProcessorWould() throws Exception {
		List<String> properties = new ArrayList<>(
				List.of("idempotent.namespace=kafka-transactions", "spring.kafka.producer.transaction-id-prefix=t-"));
		properties.addAll(kafka.properties());
		properties.addAll(postgres.properties());
		properties.addAll(redis.properties());
		try (ConfigurableApplicationContext application = KafkaApplication.start(Settlements.class, properties)) {
			Settlement settlement = application.getBean(Settlement.class);
			Deliveries deliveries = application.getBean(Deliveries.class);
			CompletableFuture<Void> elsewhere = CompletableFuture
				.runAsync(() -> settlement.settle(new Payment("settled", 10)), (task) -> new Thread(task).start());
			Gate gate = application.getBean(Gate.class);
			gate.awaitEntry();
			send(application);
			// The default processor would have given up in a moment.
			await().during(Duration.ofSeconds(2))
				.until(() -> deliveries.failures("settled").size() >= 2 && deliveries.recovered("settled") == 0);
			gate.open();
			assertThatExceptionOfType(CompletionException.class).isThrownBy(elsewhere::join);
			await().until(() -> deliveries.taken("settled") == 1);
			assertThat(application.getBean(Ledger.class).count("settled")).isOne();
		}
	}

	@SuppressWarnings("unchecked")
	private static void send(ConfigurableApplicationContext application) {
		KafkaTemplate<Object, Object> template = application.getBean(KafkaTemplate.class);
		template.executeInTransaction((each) -> each.send("settled", "settled", new Payment("settled", 10)));
	}

	@Configuration(proxyBeanMethods = false)
	static class Settlements {

		@Bean
		Deliveries deliveries(DefaultAfterRollbackProcessor<Object, Object> processor) {
			Deliveries deliveries = new Deliveries();
			processor.setRetryListeners(deliveries);
			return deliveries;
		}

		@Bean
		Gate gate() {
			return new Gate();
		}

		@Bean
		Settlement settlement(Ledger ledger, Gate gate) {
			return new Settlement(ledger, gate);
		}

	}

	static class Settlement {

		private final AtomicInteger runs = new AtomicInteger();

		private final Ledger ledger;

		private final Gate gate;

		Settlement(Ledger ledger, Gate gate) {
			this.ledger = ledger;
			this.gate = gate;
		}

		@KafkaListener(topics = "settled", groupId = "settlement")
		@Transactional("transactionManager")
		@Idempotent(key = "#payment.id", guarantee = Guarantee.TRANSACTION, name = "settlement.settle")
		public void settle(Payment payment) {
			this.ledger.add(payment.id());
			if (this.runs.incrementAndGet() == 1) {
				PaymentListeners.pass(this.gate);
				throw new IllegalStateException("The first run fails");
			}
		}

	}

}
