package dev.idempotent.saga.method;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaSteps;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for sagas that have the key of an enclosing run.
 */
class SagaOfRunTests {

	/**
	 * The run has failed after its saga, and has freed its key.
	 */
	@Test
	void belongsToTheCallOfItsRun() {
		SagaApplication.with(Shop.class).withPropertyValues("idempotent.store=jdbc").run((context) -> {
			Payments payments = context.getBean(Payments.class);
			payments.fails().set(true);
			assertThatIllegalStateException().isThrownBy(() -> payments.pay("key", 5)).withMessage("lost");
			payments.fails().set(false);
			assertThatExceptionOfType(IdempotencyMismatchException.class).isThrownBy(() -> payments.pay("key", 500));
			assertThat(payments.pay("key", 5)).isEqualTo("paid 5");
		});
	}

	/**
	 * A repeated request would begin another saga while the first one is open.
	 */
	@Test
	void isNotCalledUnderAKeyThatEndsBeforeIt() {
		SagaApplication.with(Shop.class).withPropertyValues("idempotent.store=jdbc").run((context) -> {
			Checkout checkout = context.getBean(Checkout.class);
			assertThatIllegalStateException().isThrownBy(() -> inRunByFingerprint(Duration.ofMinutes(9), checkout))
				.withMessageContainingAll("PT10M", "PT9M", "key = \"#command.id\"", "Sagas.start");
			assertThat(inRunByFingerprint(Duration.ofMinutes(10), checkout)).isEqualTo("paid 5");
		});
	}

	private static String inRunByFingerprint(Duration retention, Checkout checkout) {
		IdempotencyContext run = new IdempotencyContext(Samples.key(), "token", Samples.fingerprint("request"));
		IdempotencyContext outer = IdempotencyContext.bind(run.derivingFrom(run::key, retention));
		try {
			return checkout.pay(5);
		}
		finally {
			IdempotencyContext.bind(outer);
		}
	}

	@Configuration(proxyBeanMethods = false)
	static class Shop {

		@Bean
		Checkout checkout(SagaSteps saga) {
			return new Checkout(saga);
		}

		@Bean
		Payments payments(Checkout checkout) {
			return new Payments(checkout);
		}

	}

	static class Payments {

		private final AtomicBoolean fails = new AtomicBoolean();

		private final Checkout checkout;

		Payments(Checkout checkout) {
			this.checkout = checkout;
		}

		public AtomicBoolean fails() {
			return this.fails;
		}

		@Idempotent(name = "pay", key = "#key")
		public String pay(String key, int amount) {
			String paid = this.checkout.pay(amount);
			if (this.fails.get()) {
				throw new IllegalStateException("lost");
			}
			return paid;
		}

	}

	static class Checkout {

		private final SagaSteps saga;

		Checkout(SagaSteps saga) {
			this.saga = saga;
		}

		@Saga(name = "checkout")
		public String pay(int amount) {
			return this.saga.step("charge", String.class).run(() -> "paid " + amount);
		}

	}

}
