package dev.idempotent.idempotency.method;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.Idempotent;
import org.junit.jupiter.api.Test;
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

}
