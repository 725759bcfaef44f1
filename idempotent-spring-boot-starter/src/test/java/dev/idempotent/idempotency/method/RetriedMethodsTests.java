package dev.idempotent.idempotency.method;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.Idempotent;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.context.annotation.Configuration;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Annotated methods that make several calls to other services and are retried after a
 * failure: each attempt is a run under the same key, and derives the same keys in the
 * same order.
 */
class RetriedMethodsTests {

	@ParameterizedTest
	@EnumSource(names = { "LEASE", "TRANSACTION" })
	void deriveTheSameKeysInEachAttempt(Guarantee guarantee) {
		MethodApplication.with(Resilience.class, Shipments.class).run((context) -> {
			Shipments shipments = context.getBean(Shipments.class);
			assertThat((guarantee == Guarantee.LEASE) ? shipments.underLease("k") : shipments.inTransaction("k"))
				.isEqualTo(3);
			List<List<String>> attempts = shipments.attempts();
			assertThat(attempts).hasSize(3).containsOnly(attempts.get(0));
			assertThat(attempts.get(0)).doesNotHaveDuplicates();
		});
	}

	@Configuration(proxyBeanMethods = false)
	@EnableResilientMethods
	static class Resilience {

	}

	static class Shipments {

		private final List<List<String>> attempts = new ArrayList<>();

		public List<List<String>> attempts() {
			return this.attempts;
		}

		@Retryable(maxRetries = 2, delay = 1)
		@Idempotent(key = "#key", name = "shipments.under-lease")
		public int underLease(String key) {
			return ship();
		}

		@Retryable(maxRetries = 2, delay = 1)
		@Idempotent(key = "#key", guarantee = Guarantee.TRANSACTION, name = "shipments.in-transaction")
		public int inTransaction(String key) {
			return ship();
		}

		private int ship() {
			IdempotencyContext context = Objects.requireNonNull(IdempotencyContext.current());
			Fingerprint request = Fingerprint.of(List.of());
			this.attempts.add(List.of(String.valueOf(context.derive("gateway", "POST /charges", request).key()),
					String.valueOf(context.derive("gateway", "POST /charges", request).key()),
					String.valueOf(context.derive("gateway", "POST /shipments", request).key())));
			if (this.attempts.size() < 3) {
				throw new IllegalStateException("The shipment fails after the charges");
			}
			return this.attempts.size();
		}

	}

}
