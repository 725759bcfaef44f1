package dev.idempotent.idempotency.method;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

import dev.idempotent.aop.AnnotatedMethod;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.canonical.CanonicalValues;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Methods under {@link Guarantee#TRANSACTION} whose store in front has lost a key, or has
 * it from an owner that died. The pool has one connection, so a second one times out.
 */
class ForgottenKeysTests {

	@Test
	void areReplayedFromTheDatabase() {
		run((context) -> {
			Orders orders = context.getBean(Orders.class);
			assertThat(orders.place("k")).isEqualTo(1);
			context.getBean(ForgetfulStore.class).forget();
			assertThat(orders.place("k")).isEqualTo(1);
			assertThat(context.getBean(Effects.class).committed()).containsExactly("k");
		});
	}

	@Test
	void areReplayedWithinACallersTransactionThatContinues() {
		run((context) -> {
			Orders orders = context.getBean(Orders.class);
			orders.place("k");
			context.getBean(ForgetfulStore.class).forget();
			context.getBean(TransactionTemplate.class).executeWithoutResult((status) -> {
				assertThat(orders.place("k")).isEqualTo(1);
				assertThat(orders.place("other")).isEqualTo(2);
			});
			assertThat(context.getBean(Effects.class).committed()).containsExactly("k", "other");
		});
	}

	@Test
	void areLookedUpOnTheCallersConnectionWhenTheirOwnerIsDead() {
		run((context) -> {
			Orders orders = context.getBean(Orders.class);
			orders.place("k");
			orderOfADeadOwner(context.getBean(ForgetfulStore.class), "k");
			context.getBean(TransactionTemplate.class)
				.executeWithoutResult((status) -> assertThat(orders.place("k")).isEqualTo(1));
		});
	}

	@Test
	void arePendingUntilTheLeaseOfADeadOwnerEndsIfNothingWasCommitted() {
		run((context) -> {
			Orders orders = context.getBean(Orders.class);
			orderOfADeadOwner(context.getBean(ForgetfulStore.class), "k");
			assertThatExceptionOfType(IdempotencyPendingException.class).isThrownBy(() -> orders.place("k"));
		});
	}

	/**
	 * A claim that was not renewed for more than half of its lease.
	 */
	private static void orderOfADeadOwner(ForgetfulStore store, String id) {
		store.forget();
		IdempotencyKey key = IdempotencyKey.of(IdempotencyKey.Kind.METHOD, "shop", "", "place", '"' + id + '"');
		Fingerprint fingerprint = new MethodArguments(AnnotatedMethod.findAll(Idempotent.class, Orders.class).get(0),
				new String[0], new CanonicalValues(List.of()), "")
			.fingerprint(new Object[] { id });
		store.claim(key, fingerprint, "dead", Duration.ofSeconds(10));
	}

	private static void run(Consumer<AssertableApplicationContext> test) {
		MethodApplication.with(Orders.class)
			.withPropertyValues("spring.datasource.hikari.maximum-pool-size=1",
					"spring.datasource.hikari.connection-timeout=1000")
			.run(test::accept);
	}

	static class Orders {

		private final Effects effects;

		Orders(Effects effects) {
			this.effects = effects;
		}

		@Transactional
		@Idempotent(key = "#id", name = "place", guarantee = Guarantee.TRANSACTION)
		public int place(String id) {
			return this.effects.add(id);
		}

	}

}
