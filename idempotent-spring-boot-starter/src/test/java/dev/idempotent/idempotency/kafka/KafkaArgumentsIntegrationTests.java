package dev.idempotent.idempotency.kafka;

import java.util.ArrayList;
import java.util.List;

import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.kafka.PaymentListeners.Deliveries;
import dev.idempotent.idempotency.kafka.PaymentListeners.Payment;
import dev.idempotent.testing.RealKafka;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Payload;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.util.Assert;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What listeners can have beside their event. Each test has a topic with the same event
 * twice on it.
 */
class KafkaArgumentsIntegrationTests {

	@RegisterExtension
	static final RealKafka kafka = RealKafka.withTopics("acknowledged", "by-hand", "outside", "ignored", "compared",
			"whole", "message");

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	private static @Nullable ConfigurableApplicationContext application;

	@BeforeAll
	static void start() {
		List<String> properties = new ArrayList<>(List.of("idempotent.namespace=kafka-arguments",
				"spring.kafka.listener.ack-mode=manual-immediate", "idempotent.guarantee=transaction"));
		properties.addAll(kafka.properties());
		properties.addAll(postgres.properties());
		properties.addAll(redis.properties());
		application = KafkaApplication.start(Listeners.class, properties);
	}

	@AfterAll
	static void stop() {
		if (application != null) {
			application.close();
		}
	}

	@Test
	void anAcknowledgmentAndTheConsumerMakeNoDifference() {
		sendTwice("acknowledged");
		await().until(() -> bean(Deliveries.class).taken("acknowledged") == 2);
		assertThat(bean(Ledger.class).count("acknowledged")).isOne();
	}

	@Test
	void aReplayDoesNotAcknowledgeForAMethodThatAcknowledges() {
		sendTwice("by-hand");
		await().until(() -> bean(Deliveries.class).taken("by-hand") == 2);
		assertThat(kafka.acknowledged("by-hand")).isOne();
	}

	@Test
	void aListenerThatCallsTheAnnotatedMethodAcknowledgesReplaysToo() {
		sendTwice("outside");
		await().until(() -> kafka.acknowledged("outside") == 2);
		assertThat(bean(Ledger.class).count("outside")).isOne();
	}

	@Test
	void anOffsetMakesNoDifferenceIfItIsIgnored() {
		sendTwice("ignored");
		await().until(() -> bean(Deliveries.class).taken("ignored") == 2);
		assertThat(bean(Ledger.class).count("ignored")).isOne();
	}

	@Test
	void anOffsetThatIsNotIgnoredMakesADuplicateAnotherEvent() {
		sendTwice("compared");
		await().until(() -> bean(Deliveries.class).recovered("compared") == 1);
		assertThat(bean(Deliveries.class).failures("compared")).containsExactly(IdempotencyMismatchException.class);
		assertThat(bean(Ledger.class).count("compared")).isOne();
	}

	@Test
	void aWholeRecordYieldsItsKeyAndIsNotCompared() {
		sendTwice("whole");
		await().until(() -> bean(Deliveries.class).taken("whole") == 2);
		assertThat(bean(Ledger.class).count("whole")).isOne();
	}

	@Test
	void aMessageIsComparedByItsPayloadIfItsHeadersAreIgnored() {
		sendTwice("message");
		await().until(() -> bean(Deliveries.class).taken("message") == 2);
		assertThat(bean(Ledger.class).count("message")).isOne();
	}

	@SuppressWarnings("unchecked")
	private static void sendTwice(String topic) {
		for (int i = 0; i < 2; i++) {
			bean(KafkaTemplate.class).send(topic, 0, topic, new Payment(topic, 10)).join();
		}
	}

	private static <T> T bean(Class<T> type) {
		Assert.state(application != null, "The application is only there while its test class runs");
		return application.getBean(type);
	}

	@Configuration(proxyBeanMethods = false)
	static class Listeners {

		@Bean
		Deliveries deliveries() {
			return new Deliveries();
		}

		@Bean
		InitializingBean watch(DefaultErrorHandler handler, Deliveries deliveries) {
			return () -> handler.setRetryListeners(deliveries);
		}

		@Bean
		Payments payments(Ledger ledger) {
			return new Payments(ledger);
		}

		@Bean
		Desk desk(Payments payments) {
			return new Desk(payments);
		}

	}

	/**
	 * Has its effect through another bean.
	 *
	 * @param payments that bean
	 */
	record Desk(Payments payments) {

		@KafkaListener(topics = "outside", groupId = "outside")
		void take(Payment payment, Acknowledgment acknowledgment) {
			this.payments.pay(payment);
			acknowledgment.acknowledge();
		}

	}

	static class Payments {

		private final Ledger ledger;

		Payments(Ledger ledger) {
			this.ledger = ledger;
		}

		@KafkaListener(topics = "acknowledged", groupId = "acknowledged")
		@Transactional
		@Idempotent(key = "#payment.id", name = "payments.acknowledged")
		public void acknowledged(Payment payment, Acknowledgment acknowledgment, Consumer<?, ?> consumer) {
			this.ledger.add(payment.id());
		}

		@KafkaListener(topics = "by-hand", groupId = "by-hand")
		@Transactional
		@Idempotent(key = "#payment.id", name = "payments.by-hand")
		public void byHand(Payment payment, Acknowledgment acknowledgment) {
			this.ledger.add(payment.id());
			acknowledgment.acknowledge();
		}

		@Transactional
		@Idempotent(key = "#payment.id", name = "payments.pay")
		public void pay(Payment payment) {
			this.ledger.add(payment.id());
		}

		@KafkaListener(topics = "ignored", groupId = "ignored")
		@Transactional
		@Idempotent(key = "#payment.id", ignore = "offset", name = "payments.ignored")
		public void ignored(@Payload Payment payment, @Header(KafkaHeaders.OFFSET) long offset) {
			this.ledger.add(payment.id());
		}

		@KafkaListener(topics = "compared", groupId = "compared")
		@Transactional
		@Idempotent(key = "#payment.id", name = "payments.compared")
		public void compared(@Payload Payment payment, @Header(KafkaHeaders.OFFSET) long offset) {
			this.ledger.add(payment.id());
		}

		@KafkaListener(topics = "whole", groupId = "whole")
		@Transactional
		@Idempotent(key = "#record.value().id", name = "payments.whole")
		public void whole(ConsumerRecord<String, Payment> record) {
			this.ledger.add(record.value().id());
		}

		@KafkaListener(topics = "message", groupId = "message")
		@Transactional
		@Idempotent(key = "#message.payload.id", ignore = "/message/headers", name = "payments.message")
		public void message(Message<Payment> message) {
			this.ledger.add(message.getPayload().id());
		}

	}

}
