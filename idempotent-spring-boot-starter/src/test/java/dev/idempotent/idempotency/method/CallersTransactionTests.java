package dev.idempotent.idempotency.method;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

import javax.sql.DataSource;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.FailingListener;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatRuntimeException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Annotated methods within a transaction that their caller has begun: a key is completed
 * if and only if the work is committed.
 */
class CallersTransactionTests {

	@ParameterizedTest
	@EnumSource(names = { "LEASE", "TRANSACTION" })
	void storesTheResultWhenTheCallerCommits(Guarantee guarantee) {
		run(guarantee, (shop) -> {
			shop.inTransaction(() -> assertThat(shop.place("k")).isEqualTo(1));
			assertThat(shop.place("k")).isEqualTo(1);
			assertThat(shop.effects().committed()).containsExactly("k");
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
			assertThat(shop.effects().committed()).isEmpty();
			assertThat(shop.place("k")).isEqualTo(2);
			assertThat(shop.effects().committed()).containsExactly("k");
		});
	}

	@ParameterizedTest
	@EnumSource(names = { "LEASE", "TRANSACTION" })
	void storesTheResultOfACallbackBeforeTheCommit(Guarantee guarantee) {
		run(guarantee, (shop) -> {
			shop.inTransaction(() -> beforeCommit(() -> assertThat(shop.place("k")).isEqualTo(1)));
			assertThat(shop.place("k")).isEqualTo(1);
			assertThat(shop.effects().committed()).containsExactly("k");
		});
	}

	@Test
	void rollsBackIfTheResultOfACallbackBeforeTheCommitIsLost() {
		run(Guarantee.TRANSACTION, (shop) -> {
			assertThatRuntimeException().isThrownBy(() -> shop.inTransaction(() -> beforeCommit(() -> {
				shop.place("k");
				shop.forgetKeys();
			})));
			assertThat(shop.effects().committed()).isEmpty();
			assertThat(shop.place("k")).isEqualTo(2);
		});
	}

	@Test
	void refusesACallbackBeforeTheCompletion() {
		run(Guarantee.TRANSACTION, (shop) -> {
			AtomicReference<Throwable> failure = new AtomicReference<>();
			assertThatExceptionOfType(UnexpectedRollbackException.class).isThrownBy(() -> shop.inTransaction(
					() -> TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

						@Override
						public void beforeCompletion() {
							failure.set(catchThrowable(() -> shop.place("k")));
						}

					})));
			assertThat(failure.get()).hasMessageContaining("is about to end");
			assertThat(shop.effects().committed()).isEmpty();
			assertThat(shop.place("k")).isEqualTo(1);
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "beforeCompletion", "afterCommit" })
	void joinsAnotherTransactionThatHasBegunInACallback(String phase) {
		run(Guarantee.TRANSACTION, (shop) -> {
			shop.inTransaction(() -> callback(phase, () -> shop.inAnotherTransaction(() -> shop.place("k"))));
			assertThat(shop.place("k")).isEqualTo(1);
			assertThat(shop.effects().committed()).containsExactly("k");
		});
	}

	@Test
	void refusesACallbackAfterTheCommit() {
		run(Guarantee.TRANSACTION, (shop) -> {
			assertThatExceptionOfType(IdempotencyStoreException.class)
				.isThrownBy(() -> shop.inTransaction(() -> callback("afterCommit", () -> shop.place("k"))))
				.withMessageContaining("has already been committed");
			assertThat(shop.effects().committed()).isEmpty();
			assertThat(shop.place("k")).isEqualTo(1);
		});
	}

	private static void callback(String phase, Runnable action) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void beforeCompletion() {
				if (phase.equals("beforeCompletion")) {
					action.run();
				}
			}

			@Override
			public void afterCommit() {
				if (phase.equals("afterCommit")) {
					action.run();
				}
			}

		});
	}

	private static void beforeCommit(Runnable action) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void beforeCommit(boolean readOnly) {
				action.run();
			}

		});
	}

	/**
	 * Spring does not roll back for a {@code TransactionException}, which it takes for
	 * one of the commit itself, and resets the connection, which commits.
	 */
	@Test
	void rollsBackIfACallbackBeforeTheCommitFailsForATransaction() {
		run(Guarantee.TRANSACTION, (shop) -> {
			for (RuntimeException failure : failures()) {
				assertThatExceptionOfType(failure.getClass()).isThrownBy(() -> shop.inTransaction(() -> {
					shop.place("k");
					failBeforeCommit(failure);
				}));
				assertThat(shop.effects().committed()).isEmpty();
				assertThat(shop.effects().records()).isZero();
			}
			shop.place("k");
			assertThat(shop.effects().committed()).containsExactly("k");
		});
	}

	/**
	 * Spring does not roll back, so this library does: that is the proof.
	 */
	@Test
	void releasesAKeyIfACallbackBeforeTheCommitFailsForATransaction() {
		run(Guarantee.LEASE, (shop) -> {
			for (RuntimeException failure : failures()) {
				String key = failure.getClass().getSimpleName();
				assertThatExceptionOfType(failure.getClass()).isThrownBy(() -> shop.inTransaction(() -> {
					shop.place(key);
					failBeforeCommit(failure);
				}));
				assertThat(shop.effects().committed()).doesNotContain(key);
				shop.place(key);
				assertThat(shop.effects().committed()).containsOnlyOnce(key);
			}
		});
	}

	/**
	 * Spring does not roll back after it, and resets the connection, which commits.
	 */
	@Test
	void rollsBackIfAListenerFailsBeforeTheRollback() {
		run(Guarantee.TRANSACTION, (shop) -> {
			FailingListener listener = shop.failingListener();
			listener.failBeforeRollback(new IllegalStateException("a listener"));
			assertThatIllegalArgumentException().isThrownBy(() -> shop.placeAlone("bad"));
			listener.failBeforeRollback(new IllegalStateException("a listener"));
			assertThatIllegalStateException().isThrownBy(() -> shop.inTransaction(() -> {
				shop.place("k");
				throw new IllegalArgumentException("The caller fails afterwards");
			}));
			listener.failBeforeRollback(new IllegalStateException("a listener"));
			assertThatIllegalStateException().isThrownBy(() -> shop.inTransaction(() -> {
				shop.effects().add("the caller's own");
				assertThatIllegalArgumentException().isThrownBy(() -> shop.place("bad"));
			}));
			assertThat(shop.effects().committed()).isEmpty();
			assertThat(shop.effects().records()).isZero();
			shop.place("k");
			assertThat(shop.effects().committed()).containsExactly("k");
		});
	}

	@Test
	void rollsBackIfTheManagerWouldLetTheCallerCommitAfterAFailure() {
		run(Guarantee.TRANSACTION, (shop) -> {
			shop.forgiveParticipants();
			assertThatExceptionOfType(UnexpectedRollbackException.class).isThrownBy(() -> shop
				.inTransaction(() -> assertThatIllegalArgumentException().isThrownBy(() -> shop.place("bad"))));
			assertThat(shop.effects().committed()).isEmpty();
			assertThat(shop.effects().records()).isZero();
		});
	}

	private static List<RuntimeException> failures() {
		return List.of(new CannotCreateTransactionException("no connection"),
				new UnexpectedRollbackException("an inner transaction"));
	}

	private static void failBeforeCommit(RuntimeException failure) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void beforeCommit(boolean readOnly) {
				throw failure;
			}

		});
	}

	@ParameterizedTest
	@EnumSource(names = { "LEASE", "TRANSACTION" })
	void isPendingForOthersUntilTheCallersTransactionEnds(Guarantee guarantee) {
		run(guarantee, (shop) -> {
			shop.inTransaction(() -> {
				shop.place("k");
				assertThatExceptionOfType(IdempotencyPendingException.class)
					.isThrownBy(() -> shop.inAnotherTransaction(() -> shop.place("k")));
			});
			assertThat(shop.effects().committed()).containsExactly("k");
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
			assertThat(shop.effects().committed()).containsExactly("k");
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
			assertThat(shop.effects().committed()).containsExactly("other");
			assertThat(shop.place("k")).isEqualTo(3);
			assertThat(shop.place("other")).isEqualTo(2);
		});
	}

	@ParameterizedTest
	@EnumSource(names = { "LEASE", "TRANSACTION" })
	void releasesTheKeyAtOnceAfterARollbackToASavepoint(Guarantee guarantee) {
		run(guarantee, (shop) -> {
			shop.inTransaction(() -> {
				assertThatIllegalStateException().isThrownBy(() -> shop.nested(() -> {
					shop.place("k");
					throw new IllegalStateException("The nested part fails afterwards");
				}));
				shop.inAnotherTransaction(() -> assertThat(shop.place("k")).isEqualTo(2));
				assertThat(shop.place("k")).isEqualTo(2);
			});
			assertThat(shop.effects().committed()).containsExactly("k");
			assertThat(shop.place("k")).isEqualTo(2);
		});
	}

	@ParameterizedTest
	@EnumSource(names = { "LEASE", "TRANSACTION" })
	void releasesTheKeyOfAFailedMethod(Guarantee guarantee) {
		run(guarantee, (shop) -> {
			assertThatIllegalArgumentException().isThrownBy(() -> shop.place("bad"));
			assertThatIllegalArgumentException().isThrownBy(() -> shop.place("bad"));
			assertThat(shop.effects().runs()).isEqualTo(2);
		});
	}

	@ParameterizedTest
	@EnumSource(names = { "LEASE", "TRANSACTION" })
	void storesTheResultEvenIfAListenerFailsAfterTheCommit(Guarantee guarantee) {
		run(guarantee, (shop) -> {
			assertThatIllegalStateException().isThrownBy(() -> shop.inTransaction(() -> {
				shop.place("k");
				TransactionSynchronizationManager.registerSynchronization(new FailsAfterCommit());
			}));
			assertThat(shop.effects().committed()).containsExactly("k");
			assertThat(shop.place("k")).isEqualTo(1);
		});
	}

	@ParameterizedTest
	@EnumSource(names = { "TRANSACTION" })
	void rollsBackTheCallersWorkWithThatOfAFailedMethod(Guarantee guarantee) {
		run(guarantee, (shop) -> {
			assertThatExceptionOfType(UnexpectedRollbackException.class).isThrownBy(() -> shop.inTransaction(() -> {
				shop.effects().add("the caller's own");
				assertThatIllegalArgumentException().isThrownBy(() -> shop.placeForgivingly("bad"));
			}));
			assertThat(shop.effects().committed()).isEmpty();
			assertThat(shop.effects().records()).isZero();
		});
	}

	@ParameterizedTest
	@EnumSource(names = { "TRANSACTION" })
	void reportsAReadOnlyTransaction(Guarantee guarantee) {
		run(guarantee, (shop) -> {
			assertThatExceptionOfType(IdempotencyStoreException.class)
				.isThrownBy(() -> shop.readOnly(() -> shop.place("k")))
				.withMessageContaining("is called in a read-only transaction");
			assertThat(shop.effects().runs()).isZero();
			assertThat(shop.place("k")).isEqualTo(1);
		});
	}

	/**
	 * Nothing would tell the end of that transaction.
	 */
	@ParameterizedTest
	@EnumSource(names = { "LEASE", "TRANSACTION" })
	void refusesATransactionWithoutSynchronizations(Guarantee guarantee) {
		run(guarantee, (shop) -> {
			shop.withoutSynchronizations(true);
			assertThatRuntimeException().isThrownBy(() -> shop.inTransaction(() -> shop.place("k")))
				.withMessageContaining("ynchronization");
			assertThat(shop.effects().runs()).isZero();
			shop.withoutSynchronizations(false);
			assertThat(shop.place("k")).isEqualTo(1);
		});
	}

	@Test
	void keepsTheKeyOfAFutureUntilItHasCompletedAfterTheCommit() {
		runLate((shop, late) -> {
			shop.inTransaction(() -> assertThat(late.begin("k")).isNotDone());
			assertPending(late);
			late.complete(7);
			assertThat(late.begin("k")).isCompletedWithValue(7);
			assertThat(late.runs()).isEqualTo(1);
		});
	}

	@Test
	void keepsTheKeyOfAFutureUntilTheCommitAfterItHasCompleted() {
		runLate((shop, late) -> {
			shop.inTransaction(() -> {
				assertThat(late.begin("k")).isNotDone();
				late.complete(7);
				assertThat(late.begin("k")).isCompletedWithValue(7);
				shop.inAnotherTransaction(() -> assertPending(late));
			});
			assertThat(late.begin("k")).isCompletedWithValue(7);
			assertThat(late.runs()).isEqualTo(1);
		});
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void releasesTheKeyOfAFutureOnceItHasCompletedAfterARollback(boolean toSavepoint) {
		runLate((shop, late) -> {
			shop.inTransaction(() -> {
				assertThatIllegalStateException().isThrownBy(() -> shop.nestedOrAlone(toSavepoint, () -> {
					assertThat(late.begin("k")).isNotDone();
					throw new IllegalStateException("The caller fails afterwards");
				}));
				shop.inAnotherTransaction(() -> assertPending(late));
			});
			assertPending(late);
			late.complete(7);
			assertThat(late.begin("k")).isNotDone();
			assertThat(late.runs()).isEqualTo(2);
		});
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void releasesTheKeyOfAFutureThatFails(boolean afterTheCommit) {
		runLate((shop, late) -> {
			shop.inTransaction(() -> {
				assertThat(late.begin("k")).isNotDone();
				if (!afterTheCommit) {
					late.fail();
				}
			});
			if (afterTheCommit) {
				assertPending(late);
				late.fail();
			}
			assertThat(late.begin("k")).isNotDone();
			assertThat(late.runs()).isEqualTo(2);
		});
	}

	private static void assertPending(LateOrders late) {
		assertThat(late.begin("k")).isCompletedExceptionally();
		assertThat(failureOf(late.begin("k"))).isInstanceOf(IdempotencyPendingException.class);
	}

	private static Throwable failureOf(CompletableFuture<Integer> future) {
		return future.handle((value, failure) -> failure).join();
	}

	private static void runLate(BiConsumer<OrderShop, LateOrders> test) {
		MethodApplication.with(OrderShop.Orders.class, LateOrders.class)
			.run((context) -> test.accept(new OrderShop(context, Guarantee.LEASE), context.getBean(LateOrders.class)));
	}

	private static void run(Guarantee guarantee, Consumer<OrderShop> test) {
		MethodApplication.with(OrderShop.Orders.class).run((context) -> test.accept(new OrderShop(context, guarantee)));
	}

	private static final class FailsAfterCommit implements TransactionSynchronization {

		@Override
		public void afterCommit() {
			throw new IllegalStateException("The listener fails");
		}

	}

	/**
	 * Orders whose work goes on when the method has returned.
	 */
	static class LateOrders {

		private final AtomicInteger runs = new AtomicInteger();

		private final AtomicReference<CompletableFuture<Integer>> last = new AtomicReference<>();

		@Idempotent(key = "#key", name = "orders.late")
		public CompletableFuture<Integer> begin(String key) {
			this.runs.incrementAndGet();
			CompletableFuture<Integer> begun = new CompletableFuture<>();
			this.last.set(begun);
			return begun;
		}

		public void complete(int result) {
			this.last.get().complete(result);
		}

		public void fail() {
			this.last.get().completeExceptionally(new IllegalStateException("The work fails"));
		}

		public int runs() {
			return this.runs.get();
		}

	}

	/**
	 * A shop whose orders are placed under one guarantee, in transactions of its caller.
	 */
	static final class OrderShop {

		private final Orders orders;

		private final Effects effects;

		private final Guarantee guarantee;

		private final PlatformTransactionManager manager;

		private final JdbcTemplate jdbc;

		OrderShop(AssertableApplicationContext context, Guarantee guarantee) {
			this.orders = context.getBean(Orders.class);
			this.effects = context.getBean(Effects.class);
			this.guarantee = guarantee;
			this.manager = context.getBean(PlatformTransactionManager.class);
			this.jdbc = new JdbcTemplate(context.getBean(DataSource.class));
		}

		int place(String key) {
			return place(key, 1);
		}

		int place(String key, int amount) {
			return (this.guarantee == Guarantee.LEASE) ? this.orders.underLease(key, amount)
					: this.orders.inTransaction(key, amount);
		}

		Effects effects() {
			return this.effects;
		}

		/**
		 * As part of the current transaction.
		 */
		void forgetKeys() {
			this.jdbc.update("delete from idempotency_record");
		}

		/**
		 * In a transaction that only the guarantee begins.
		 */
		void placeAlone(String key) {
			this.orders.alone(key);
		}

		FailingListener failingListener() {
			return FailingListener.of(this.manager);
		}

		/**
		 * Lets a caller commit after a method that has joined its transaction has failed.
		 */
		void forgiveParticipants() {
			((AbstractPlatformTransactionManager) this.manager).setGlobalRollbackOnParticipationFailure(false);
		}

		void withoutSynchronizations(boolean without) {
			((AbstractPlatformTransactionManager) this.manager)
				.setTransactionSynchronization(without ? AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER
						: AbstractPlatformTransactionManager.SYNCHRONIZATION_ALWAYS);
		}

		void placeForgivingly(String key) {
			this.orders.forgivingly(key);
		}

		void inTransaction(Runnable work) {
			new TransactionTemplate(this.manager).executeWithoutResult((status) -> work.run());
		}

		void tryInTransaction(Runnable work) {
			new TransactionTemplate(this.manager).executeWithoutResult((status) -> {
				work.run();
				status.setRollbackOnly();
			});
		}

		void inAnotherTransaction(Runnable work) {
			run(TransactionDefinition.PROPAGATION_REQUIRES_NEW, work);
		}

		void nested(Runnable work) {
			run(TransactionDefinition.PROPAGATION_NESTED, work);
		}

		void nestedOrAlone(boolean nested, Runnable work) {
			run(nested ? TransactionDefinition.PROPAGATION_NESTED : TransactionDefinition.PROPAGATION_REQUIRES_NEW,
					work);
		}

		void readOnly(Runnable work) {
			TransactionTemplate template = new TransactionTemplate(this.manager);
			template.setReadOnly(true);
			template.executeWithoutResult((status) -> work.run());
		}

		private void run(int propagation, Runnable work) {
			TransactionTemplate template = new TransactionTemplate(this.manager);
			template.setPropagationBehavior(propagation);
			template.executeWithoutResult((status) -> work.run());
		}

		static class Orders {

			private final Effects effects;

			Orders(Effects effects) {
				this.effects = effects;
			}

			@Transactional
			@Idempotent(key = "#key", name = "orders.under-lease")
			public int underLease(String key, int amount) {
				return place(key);
			}

			@Transactional
			@Idempotent(key = "#key", guarantee = Guarantee.TRANSACTION, name = "orders.in-transaction")
			public int inTransaction(String key, int amount) {
				return place(key);
			}

			@Transactional(noRollbackFor = IllegalArgumentException.class)
			@Idempotent(key = "#key", guarantee = Guarantee.TRANSACTION, name = "orders.forgivingly")
			public int forgivingly(String key) {
				return place(key);
			}

			@Idempotent(key = "#key", guarantee = Guarantee.TRANSACTION, name = "orders.alone")
			public int alone(String key) {
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

}
