package dev.idempotent.idempotency.method;

import java.util.function.Consumer;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.Idempotent;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Annotated methods within a transaction that their caller has begun: a key is completed
 * if and only if the work stays.
 */
class CallersTransactionTests {

	@ParameterizedTest
	@EnumSource(names = { "LEASE", "TRANSACTION" })
	void keepsTheResultWhenTheCallerCommits(Guarantee guarantee) {
		run(guarantee, (shop) -> {
			shop.inTransaction(() -> assertThat(shop.place("k")).isEqualTo(1));
			assertThat(shop.place("k")).isEqualTo(1);
			assertThat(shop.effects.committed()).containsExactly("k");
		});
	}

	@ParameterizedTest
	@EnumSource(names = { "LEASE", "TRANSACTION" })
	void runsAgainWhenTheCallerHasRolledBack(Guarantee guarantee) {
		run(guarantee, (shop) -> {
			assertThatIllegalStateException().isThrownBy(() -> shop.inTransaction(() -> {
				shop.place("k");
				throw new IllegalStateException("The caller fails afterwards");
			}));
			assertThat(shop.effects.committed()).isEmpty();
			assertThat(shop.place("k")).isEqualTo(2);
			assertThat(shop.effects.committed()).containsExactly("k");
		});
	}

	@ParameterizedTest
	@EnumSource(names = { "LEASE", "TRANSACTION" })
	void isPendingForOthersUntilTheCallerEnds(Guarantee guarantee) {
		run(guarantee, (shop) -> {
			shop.inTransaction(() -> {
				shop.place("k");
				assertThatExceptionOfType(IdempotencyPendingException.class)
					.isThrownBy(() -> shop.inAnotherTransaction(() -> shop.place("k")));
			});
			assertThat(shop.effects.committed()).containsExactly("k");
		});
	}

	@ParameterizedTest
	@EnumSource(names = { "LEASE", "TRANSACTION" })
	void replaysWithinTheSameTransaction(Guarantee guarantee) {
		run(guarantee, (shop) -> {
			shop.inTransaction(() -> {
				assertThat(shop.place("k")).isEqualTo(1);
				assertThat(shop.place("k")).isEqualTo(1);
			});
			assertThat(shop.effects.committed()).containsExactly("k");
			shop.tryInTransaction(() -> {
				shop.place("other");
				assertThatExceptionOfType(IdempotencyMismatchException.class).isThrownBy(() -> shop.place("other", 2));
			});
		});
	}

	@ParameterizedTest
	@EnumSource(names = { "LEASE", "TRANSACTION" })
	void runsAgainAfterARollbackToASavepoint(Guarantee guarantee) {
		run(guarantee, (shop) -> {
			shop.inTransaction(() -> {
				assertThatIllegalStateException().isThrownBy(() -> shop.nested(() -> {
					shop.place("k");
					throw new IllegalStateException("The nested part fails afterwards");
				}));
				shop.place("other");
			});
			assertThat(shop.effects.committed()).containsExactly("other");
			assertThat(shop.place("k")).isEqualTo(3);
			assertThat(shop.place("other")).isEqualTo(2);
		});
	}

	@ParameterizedTest
	@EnumSource(names = { "LEASE", "TRANSACTION" })
	void freesTheKeyOfAMethodThatFails(Guarantee guarantee) {
		run(guarantee, (shop) -> {
			assertThatIllegalArgumentException().isThrownBy(() -> shop.place("bad"));
			assertThatIllegalArgumentException().isThrownBy(() -> shop.place("bad"));
			assertThat(shop.effects.runs()).isEqualTo(2);
		});
	}

	@ParameterizedTest
	@EnumSource(names = { "LEASE", "TRANSACTION" })
	void keepsTheResultThoughAListenerFailsAfterTheCommit(Guarantee guarantee) {
		run(guarantee, (shop) -> {
			assertThatIllegalStateException().isThrownBy(() -> shop.inTransaction(() -> {
				shop.place("k");
				TransactionSynchronizationManager.registerSynchronization(new FailsAfterCommit());
			}));
			assertThat(shop.effects.committed()).containsExactly("k");
			assertThat(shop.place("k")).isEqualTo(1);
		});
	}

	@ParameterizedTest
	@EnumSource(names = { "TRANSACTION" })
	void undoesTheCallersWorkWithThatOfAMethodThatFails(Guarantee guarantee) {
		run(guarantee, (shop) -> {
			assertThatExceptionOfType(UnexpectedRollbackException.class).isThrownBy(() -> shop.inTransaction(() -> {
				shop.effects.add("the caller's own");
				assertThatIllegalArgumentException().isThrownBy(() -> shop.placeForgivingly("bad"));
			}));
			assertThat(shop.effects.committed()).isEmpty();
			assertThat(shop.effects.records()).isZero();
		});
	}

	@ParameterizedTest
	@EnumSource(names = { "TRANSACTION" })
	void saysThatAReadOnlyTransactionCannotRecordIt(Guarantee guarantee) {
		run(guarantee, (shop) -> {
			assertThatExceptionOfType(IdempotencyStoreException.class)
				.isThrownBy(() -> shop.readOnly(() -> shop.place("k")))
				.withMessageContaining("is called in a read-only transaction");
			assertThat(shop.effects.runs()).isZero();
			assertThat(shop.place("k")).isEqualTo(1);
		});
	}

	private static void run(Guarantee guarantee, Consumer<Shop> test) {
		MethodApplication.with(Orders.class).run((context) -> test.accept(new Shop(context, guarantee)));
	}

	private static final class Shop {

		private final Orders orders;

		private final Effects effects;

		private final Guarantee guarantee;

		private final PlatformTransactionManager manager;

		private Shop(AssertableApplicationContext context, Guarantee guarantee) {
			this.orders = context.getBean(Orders.class);
			this.effects = context.getBean(Effects.class);
			this.guarantee = guarantee;
			this.manager = context.getBean(PlatformTransactionManager.class);
		}

		private int place(String key) {
			return place(key, 1);
		}

		private int place(String key, int amount) {
			return (this.guarantee == Guarantee.LEASE) ? this.orders.underLease(key, amount)
					: this.orders.inTransaction(key, amount);
		}

		private void placeForgivingly(String key) {
			this.orders.forgivingly(key);
		}

		private void inTransaction(Runnable work) {
			new TransactionTemplate(this.manager).executeWithoutResult((status) -> work.run());
		}

		private void tryInTransaction(Runnable work) {
			new TransactionTemplate(this.manager).executeWithoutResult((status) -> {
				work.run();
				status.setRollbackOnly();
			});
		}

		private void inAnotherTransaction(Runnable work) {
			run(TransactionDefinition.PROPAGATION_REQUIRES_NEW, work);
		}

		private void nested(Runnable work) {
			run(TransactionDefinition.PROPAGATION_NESTED, work);
		}

		private void readOnly(Runnable work) {
			TransactionTemplate template = new TransactionTemplate(this.manager);
			template.setReadOnly(true);
			template.executeWithoutResult((status) -> work.run());
		}

		private void run(int propagation, Runnable work) {
			TransactionTemplate template = new TransactionTemplate(this.manager);
			template.setPropagationBehavior(propagation);
			template.executeWithoutResult((status) -> work.run());
		}

	}

	private static final class FailsAfterCommit implements TransactionSynchronization {

		@Override
		public void afterCommit() {
			throw new IllegalStateException("The listener fails");
		}

	}

	static class Orders {

		private final Effects effects;

		Orders(Effects effects) {
			this.effects = effects;
		}

		@Transactional
		@Idempotent(key = "#key")
		public int underLease(String key, int amount) {
			return place(key);
		}

		@Transactional
		@Idempotent(key = "#key", guarantee = Guarantee.TRANSACTION)
		public int inTransaction(String key, int amount) {
			return place(key);
		}

		@Transactional(noRollbackFor = IllegalArgumentException.class)
		@Idempotent(key = "#key", guarantee = Guarantee.TRANSACTION)
		public int forgivingly(String key) {
			return place(key);
		}

		private int place(String key) {
			int run = this.effects.add(key);
			if (key.equals("bad")) {
				throw new IllegalArgumentException("This one fails");
			}
			return run;
		}

	}

}
