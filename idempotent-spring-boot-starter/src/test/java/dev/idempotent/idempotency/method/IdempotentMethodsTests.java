package dev.idempotent.idempotency.method;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.Idempotent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.context.annotation.Configuration;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for annotated methods of beans.
 */
class IdempotentMethodsTests {

	@Test
	void runOncePerKey() {
		MethodApplication.with(Orders.class).run((context) -> {
			Orders orders = context.getBean(Orders.class);
			Effects effects = context.getBean(Effects.class);
			Receipt first = orders.place(new Order("1", 5));
			assertThat(orders.place(new Order("1", 5))).isEqualTo(first).isNotSameAs(first);
			assertThat(orders.place(new Order("2", 5))).isNotEqualTo(first);
			assertThat(effects.committed()).containsExactly("1", "2");
			assertThat(effects.records()).isZero();
			assertThatExceptionOfType(IdempotencyMismatchException.class)
				.isThrownBy(() -> orders.place(new Order("1", 6)));
			assertThatIllegalArgumentException().isThrownBy(() -> orders.place(new Order(" ", 6)));
		});
	}

	@Test
	void runOncePerKeyInTheirTransaction() {
		MethodApplication.with(Orders.class).run((context) -> {
			Orders orders = context.getBean(Orders.class);
			Effects effects = context.getBean(Effects.class);
			Receipt first = orders.placeInTransaction(new Order("1", 5));
			assertThat(orders.placeInTransaction(new Order("1", 5))).isEqualTo(first);
			assertThat(effects.committed()).containsExactly("1");
			assertThat(effects.records()).isOne();
			assertThatIllegalStateException().isThrownBy(() -> orders.placeInTransaction(new Order("bad", 5)));
			assertThatIllegalStateException().isThrownBy(() -> orders.placeInTransaction(new Order("bad", 5)));
			assertThat(effects.committed()).containsExactly("1");
			assertThat(effects.records()).isOne();
		});
	}

	@Test
	void reportWhyACallHasNoKey() {
		MethodApplication.with(Orders.class).run((context) -> {
			Orders orders = context.getBean(Orders.class);
			assertThatIllegalArgumentException().isThrownBy(() -> orders.misspelt(new Order("1", 5)))
				.withMessageContainingAll("misspelt", "has no idempotency key")
				.havingCause()
				.withMessageContaining("'identity'");
			assertThatIllegalArgumentException().isThrownBy(() -> orders.place(new Order("", 5)))
				.withMessageContaining("has no idempotency key");
			assertThat(context.getBean(Effects.class).runs()).isZero();
		});
	}

	@ParameterizedTest
	@EnumSource(names = { "LEASE", "TRANSACTION" })
	void deriveTheSameKeysInEachAttemptOfARetry(Guarantee guarantee) {
		MethodApplication.with(Resilience.class, Shipments.class).run((context) -> {
			Shipments shipments = context.getBean(Shipments.class);
			assertThat((guarantee == Guarantee.LEASE) ? shipments.underLease("k") : shipments.inTransaction("k"))
				.isEqualTo(3);
			List<List<String>> attempts = shipments.attempts();
			assertThat(attempts).hasSize(3).containsOnly(attempts.get(0));
			assertThat(attempts.get(0)).doesNotHaveDuplicates();
		});
	}

	record Order(String id, int amount) {
	}

	record Receipt(int number) {
	}

	static class Orders {

		private final Effects effects;

		Orders(Effects effects) {
			this.effects = effects;
		}

		@Idempotent(key = "#order.id", name = "orders.place")
		public Receipt place(Order order) {
			return new Receipt(this.effects.add(order.id()));
		}

		@Idempotent(key = "#order.identity", name = "orders.misspelt")
		public Receipt misspelt(Order order) {
			return new Receipt(this.effects.add(order.id()));
		}

		@Transactional
		@Idempotent(key = "#order.id", guarantee = Guarantee.TRANSACTION, name = "orders.place-in-transaction")
		public Receipt placeInTransaction(Order order) {
			Receipt receipt = new Receipt(this.effects.add(order.id()));
			if (order.id().equals("bad")) {
				throw new IllegalStateException("This order fails");
			}
			return receipt;
		}

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
