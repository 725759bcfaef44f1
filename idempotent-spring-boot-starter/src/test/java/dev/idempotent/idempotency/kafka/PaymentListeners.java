package dev.idempotent.idempotency.kafka;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.Gate;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.annotation.KafkaHandler;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.ListenerExecutionFailedException;
import org.springframework.kafka.listener.RecordInterceptor;
import org.springframework.kafka.listener.RetryListener;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Listeners that write what they take.
 */
@Configuration(proxyBeanMethods = false)
public class PaymentListeners {

	@Bean
	Deliveries deliveries() {
		return new Deliveries();
	}

	@Bean
	InitializingBean watch(DefaultErrorHandler handler, Deliveries deliveries) {
		return () -> handler.setRetryListeners(deliveries);
	}

	@Bean
	Script script() {
		return new Script();
	}

	@Bean
	Payments payments(Ledger ledger, Script script) {
		return new Payments(ledger, script);
	}

	@Bean
	Movements movements(Ledger ledger) {
		return new Movements(ledger);
	}

	@Bean
	Leased leased(Ledger ledger, Script script) {
		return new Leased(ledger, script);
	}

	/**
	 * What listeners are to do besides. They themselves are behind proxies.
	 */
	static class Script {

		final Gate committed = new Gate();

		volatile @Nullable String failing;

		volatile @Nullable Gate held;

		void play(String id) {
			Gate gate = this.held;
			if (gate != null && id.equals("held")) {
				this.held = null;
				pass(gate);
			}
			if (id.equals(this.failing)) {
				this.failing = null;
				throw new IllegalStateException("The bank is closed");
			}
		}

	}

	static class Payments {

		private final Ledger ledger;

		private final Script script;

		Payments(Ledger ledger, Script script) {
			this.ledger = ledger;
			this.script = script;
		}

		@KafkaListener(topics = "payments", groupId = "one", concurrency = "2")
		@KafkaListener(topics = "payments", groupId = "two", concurrency = "2")
		@Transactional
		@Idempotent(key = "#payment.id", guarantee = Guarantee.TRANSACTION, name = "payments.pay")
		public void pay(Payment payment) {
			this.ledger.add(payment.id());
			this.script.play(payment.id());
		}

	}

	@KafkaListener(topics = "movements", groupId = "movements", concurrency = "2")
	static class Movements {

		private final Ledger ledger;

		Movements(Ledger ledger) {
			this.ledger = ledger;
		}

		@KafkaHandler
		@Transactional
		@Idempotent(key = "#payment.id", guarantee = Guarantee.TRANSACTION, name = "movements.paid")
		public void paid(Payment payment) {
			this.ledger.add("payment " + payment.id());
		}

		@KafkaHandler
		@Transactional
		@Idempotent(key = "#refund.id", guarantee = Guarantee.TRANSACTION, name = "movements.refunded")
		public void refunded(Refund refund) {
			this.ledger.add("refund " + refund.id());
		}

	}

	static class Leased {

		private final Ledger ledger;

		private final Script script;

		Leased(Ledger ledger, Script script) {
			this.ledger = ledger;
			this.script = script;
		}

		@KafkaListener(topics = "leased", groupId = "leased")
		@Transactional
		@Idempotent(key = "#payment.id", guarantee = Guarantee.LEASE, name = "leased.pay")
		public void pay(Payment payment) {
			this.ledger.add(payment.id());
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
				@Override
				public void afterCommit() {
					pass(Leased.this.script.committed);
				}
			});
		}

	}

	static void pass(Gate gate) {
		try {
			gate.pass();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/**
	 * An event.
	 *
	 * @param id names it
	 * @param amount what is paid
	 */
	public record Payment(String id, int amount) {

	}

	/**
	 * Another event.
	 *
	 * @param id names it
	 */
	public record Refund(String id) {

	}

	/**
	 * The deliveries of records to listeners, by the keys of the records.
	 */
	static class Deliveries implements RecordInterceptor<Object, Object>, RetryListener {

		private final List<Object> taken = new CopyOnWriteArrayList<>();

		private final List<Failure> failures = new CopyOnWriteArrayList<>();

		private final List<Object> recovered = new CopyOnWriteArrayList<>();

		@Override
		public ConsumerRecord<Object, Object> intercept(ConsumerRecord<Object, Object> record,
				Consumer<Object, Object> consumer) {
			return record;
		}

		@Override
		public void success(ConsumerRecord<Object, Object> record, Consumer<Object, Object> consumer) {
			this.taken.add(record.key());
		}

		@Override
		public void failedDelivery(ConsumerRecord<?, ?> record, @Nullable Exception failure, int attempt) {
			Throwable cause = (failure instanceof ListenerExecutionFailedException) ? failure.getCause() : failure;
			if (cause != null) {
				this.failures.add(new Failure(record.key(), cause.getClass()));
			}
		}

		@Override
		public void recovered(ConsumerRecord<?, ?> record, @Nullable Exception failure) {
			this.recovered.add(record.key());
		}

		long taken(String key) {
			return this.taken.stream().filter(key::equals).count();
		}

		List<Class<?>> failures(String key) {
			List<Class<?>> types = new ArrayList<>();
			this.failures.stream()
				.filter((failure) -> failure.key().equals(key))
				.forEach((failure) -> types.add(failure.type()));
			return types;
		}

		long recovered(String key) {
			return this.recovered.stream().filter(key::equals).count();
		}

		private record Failure(Object key, Class<?> type) {
		}

	}

}
