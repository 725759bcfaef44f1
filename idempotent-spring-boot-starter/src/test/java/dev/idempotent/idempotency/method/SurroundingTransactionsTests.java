package dev.idempotent.idempotency.method;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.IntConsumer;

import javax.sql.DataSource;

import dev.idempotent.autoconfigure.saga.ImportSagas;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.saga.Sagas;
import dev.idempotent.transition.Transitions;
import dev.idempotent.transition.jdbc.GuardedTransitions;
import dev.idempotent.testing.BrokerTransactionManager;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Primary;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

/**
 * Annotated methods in transactions around, within and after each other: a key is settled
 * with the work, and what is around goes on.
 */
class SurroundingTransactionsTests {

	@ParameterizedTest
	@ValueSource(ints = { Ordered.HIGHEST_PRECEDENCE, 0 })
	void completeAKeyOfAPriorityCallbackBeforeTheCommit(int order) {
		run((context) -> {
			SurroundedShop shop = context.getBean(SurroundedShop.class);
			SurroundedShop.required(manager(context), () -> {
				register(order, () -> shop.transaction("callback"));
				shop.transaction("work");
			});
			Effects effects = context.getBean(Effects.class);
			assertThat(effects.committed()).containsExactlyInAnyOrder("callback", "work");
			assertThat(completed(context)).containsOnly(true).hasSize(2);
			context.getBean(ForgetfulStore.class).forget();
			shop.transaction("callback");
			shop.transaction("work");
			assertThat(effects.runs()).isEqualTo(2);
		});
	}

	@ParameterizedTest
	@EnumSource(names = { "LEASE", "TRANSACTION" })
	void releaseAKeyOfATransactionThatFailsInACallbackAfterTheCommit(Guarantee guarantee) {
		run((context) -> {
			AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
			SurroundedShop.required(manager(context), () -> SurroundedShop
				.afterCommit(() -> failure.set(catchThrowable(() -> SurroundedShop.requiresNew(manager(context), () -> {
					SurroundedShop.afterCommit(() -> {
					});
					SurroundedShop.place(context, guarantee, "k");
					throw new IllegalStateException("The inner transaction fails");
				})))));
			assertThat(failure.get()).hasMessage("The inner transaction fails");
			assertThat(committed(context)).isEmpty();
			assertThat(SurroundedShop.place(context, guarantee, "k")).isEqualTo(2);
			assertThat(committed(context)).containsExactly("k");
		});
	}

	@Test
	void completeAKeyOfATransactionThatCommitsInACallbackAfterTheCommit() {
		run((context) -> {
			SurroundedShop shop = context.getBean(SurroundedShop.class);
			SurroundedShop.required(manager(context),
					() -> SurroundedShop.afterCommit(() -> SurroundedShop.requiresNew(manager(context), () -> {
						SurroundedShop.afterCommit(() -> {
						});
						shop.transaction("k");
					})));
			assertThat(shop.transaction("k")).isEqualTo(1);
			assertThat(committed(context)).containsExactly("k");
		});
	}

	@Test
	void doNotReplayIfTheOuterTransactionRollsBack() {
		run((context) -> {
			SurroundedShop shop = context.getBean(SurroundedShop.class);
			assertThatIllegalStateException().isThrownBy(() -> SurroundedShop.required(manager(context), () -> {
				SurroundedShop.required(second(context), () -> shop.lease("k"));
				throw new IllegalStateException("The outer transaction fails");
			})).withMessage("The outer transaction fails");
			assertThat(committed(context)).isEmpty();
			await().ignoreExceptionsInstanceOf(IdempotencyPendingException.class)
				.until(() -> shop.lease("k"), (run) -> run == 2);
			assertThat(committed(context)).containsExactly("k");
		}, Second.class);
	}

	@Test
	void doNotRunAgainAtOnceIfTheOuterTransactionCommitsWithoutTheInnerOne() {
		run((context) -> {
			SurroundedShop shop = context.getBean(SurroundedShop.class);
			SurroundedShop.required(manager(context), () -> assertThatIllegalStateException()
				.isThrownBy(() -> SurroundedShop.required(second(context), () -> {
					shop.lease("k");
					throw new IllegalStateException("The inner transaction fails");
				}))
				.withMessage("The inner transaction fails"));
			assertThatExceptionOfType(IdempotencyPendingException.class).isThrownBy(() -> shop.lease("k"));
			assertThat(committed(context)).containsExactly("k");
		}, Second.class);
	}

	@Test
	void replayIfBothTransactionsCommit() {
		run((context) -> {
			SurroundedShop shop = context.getBean(SurroundedShop.class);
			SurroundedShop.required(manager(context),
					() -> SurroundedShop.required(second(context), () -> shop.lease("k")));
			assertThat(shop.lease("k")).isEqualTo(1);
			assertThat(committed(context)).containsExactly("k");
		}, Second.class);
	}

	@Test
	void releaseAtOnceIfBothTransactionsRollBack() {
		run((context) -> {
			SurroundedShop shop = context.getBean(SurroundedShop.class);
			assertThatIllegalStateException().isThrownBy(() -> SurroundedShop.required(manager(context),
					() -> SurroundedShop.required(second(context), () -> {
						shop.lease("k");
						throw new IllegalStateException("Both transactions fail");
					})));
			assertThat(committed(context)).isEmpty();
			assertThat(shop.lease("k")).isEqualTo(2);
			assertThat(committed(context)).containsExactly("k");
		}, Second.class);
	}

	@Test
	void leaveTheWorkOfTheOuterTransactionIfAnUnknownInnerOneFails() {
		run((context) -> {
			SurroundedShop shop = context.getBean(SurroundedShop.class);
			Effects effects = context.getBean(Effects.class);
			PlatformTransactionManager broker = new BrokerTransactionManager();
			for (RuntimeException failure : List.of(new IllegalStateException("The inner transaction fails"),
					new UnexpectedRollbackException("The inner transaction fails"))) {
				effects.reset();
				String key = failure.getClass().getSimpleName();
				SurroundedShop.required(manager(context), () -> {
					effects.add("before");
					assertThatThrownBy(() -> SurroundedShop.required(broker, () -> {
						shop.lease(key);
						SurroundedShop.beforeCommit(() -> {
							throw failure;
						});
					})).isSameAs(failure);
					effects.add("after");
				});
				assertThat(effects.committed()).containsExactly("before", key, "after");
				assertThatExceptionOfType(IdempotencyPendingException.class).isThrownBy(() -> shop.lease(key));
			}
		});
	}

	@Test
	void areRefusedAfterTheCompletion() {
		run((context) -> {
			SurroundedShop shop = context.getBean(SurroundedShop.class);
			assertThat(afterCompletion(context, () -> shop.transaction("k")))
				.isInstanceOf(IdempotencyStoreException.class)
				.hasMessageContaining("has already been committed");
			assertThat(committed(context)).isEmpty();
			assertThat(shop.transaction("k")).isEqualTo(1);
		});
	}

	@Test
	void refuseATransitionAfterTheCompletion() {
		run((context) -> {
			GuardedTransitions<State> things = things(context);
			assertThat(afterCompletion(context, () -> things.move(1, State.OPEN, State.PAID)))
				.isInstanceOf(IllegalTransactionStateException.class)
				.hasMessageContaining("the transaction has ended");
			assertThat(status(context)).isEqualTo("OPEN");
			SurroundedShop.required(manager(context), () -> things.move(1, State.OPEN, State.PAID).orThrow());
			assertThat(status(context)).isEqualTo("PAID");
		});
	}

	@Test
	void refuseASagaAfterTheCompletion() {
		run((context) -> {
			Sagas sagas = context.getBean(Sagas.class);
			Trip trip = context.getBean(Trip.class);
			assertThat(afterCompletion(context, () -> sagas.start(() -> trip.book("k"))))
				.isInstanceOf(IllegalStateException.class)
				.hasMessageContaining("REQUIRES_NEW");
			JdbcTemplate database = database(context);
			assertThat(database.queryForObject("select count(*) from saga_instance", Integer.class)).isZero();
			SurroundedShop.required(manager(context), () -> sagas.start(() -> trip.book("k")));
			assertThat(database.queryForObject("select count(*) from saga_instance", Integer.class)).isOne();
		}, Trips.class);
	}

	@Test
	void areRefusedInACallbackOfATransactionPartAfterTheCompletion() {
		run((context) -> {
			SurroundedShop shop = context.getBean(SurroundedShop.class);
			AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
			afterCompletion(context,
					() -> SurroundedShop.beforeCommit(() -> failure.set(catchThrowable(() -> shop.transaction("k")))));
			assertThat(failure.get()).isInstanceOf(IdempotencyStoreException.class)
				.hasMessageContaining("has already been committed");
			assertThat(committed(context)).isEmpty();
			assertThat(shop.transaction("k")).isEqualTo(1);
		});
	}

	@Test
	void refuseATransitionInACallbackOfATransactionPartAfterTheCompletion() {
		run((context) -> {
			GuardedTransitions<State> things = things(context);
			AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
			afterCompletion(context, () -> {
				assertThatExceptionOfType(IllegalTransactionStateException.class)
					.isThrownBy(() -> things.move(1, State.OPEN, State.PAID));
				SurroundedShop
					.beforeCommit(() -> failure.set(catchThrowable(() -> things.move(1, State.OPEN, State.PAID))));
			});
			assertThat(failure.get()).isInstanceOf(IllegalTransactionStateException.class);
			assertThat(status(context)).isEqualTo("OPEN");
		});
	}

	@Test
	void keepTheOuterTransactionIfAnInnerOneDoesNotBegin() {
		run((context) -> {
			SurroundedShop shop = context.getBean(SurroundedShop.class);
			AtomicBoolean fails = new AtomicBoolean();
			JdbcTransactionManager manager = (JdbcTransactionManager) manager(context);
			manager.addListener(new TransactionExecutionListener() {

				@Override
				public void beforeBegin(TransactionExecution transaction) {
					if (fails.getAndSet(false)) {
						throw new IllegalStateException("A listener fails");
					}
				}

			});
			List<String> told = new ArrayList<>();
			SurroundedShop.required(second(context), () -> SurroundedShop.required(manager, () -> {
				SurroundedShop.afterCommit(() -> told.add("the callback"));
				shop.transaction("k");
				fails.set(true);
				assertThatIllegalStateException().isThrownBy(() -> SurroundedShop.requiresNew(manager, () -> {
				})).withMessage("A listener fails");
			}));
			assertThat(told).containsExactly("the callback");
			assertReplayed(context, "k");
		}, Second.class);
	}

	@Test
	void keepTheOuterTransactionIfTheInnerOneLosesItsCallbacks() {
		run((context) -> {
			SurroundedShop shop = context.getBean(SurroundedShop.class);
			List<String> told = new ArrayList<>();
			SurroundedShop.required(manager(context), () -> {
				SurroundedShop.afterCommit(() -> told.add("the callback"));
				shop.transaction("k");
				assertThatIllegalStateException().isThrownBy(() -> shop.clearing("inner"));
				assertThat(TransactionSynchronizationManager.isSynchronizationActive()).isTrue();
				shop.lease("later");
			});
			assertThat(told).containsExactly("the callback");
			assertThat(committed(context)).containsExactlyInAnyOrder("k", "later");
			assertThat(shop.lease("later")).isEqualTo(3);
			assertThatExceptionOfType(IdempotencyPendingException.class).isThrownBy(() -> shop.clearing("inner"));
			context.getBean(ForgetfulStore.class).forget();
			assertThat(shop.transaction("k")).isEqualTo(1);
		});
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void leaveTheCallerItsOwnExceptionIfALateKeyIsRolledBack(boolean watched) {
		run((context) -> {
			SurroundedShop shop = context.getBean(SurroundedShop.class);
			PlatformTransactionManager manager = watched ? manager(context)
					: new JdbcTransactionManager(context.getBean(DataSource.class));
			assertThatIllegalArgumentException()
				.isThrownBy(() -> SurroundedShop.required(manager, () -> SurroundedShop.beforeCommit(() -> {
					shop.transaction("k");
					throw new IllegalArgumentException("The callback fails");
				})))
				.withMessage("The callback fails");
			assertThat(committed(context)).isEmpty();
			assertThat(completed(context)).isEmpty();
			assertThat(shop.transaction("k")).isEqualTo(2);
			assertThat(committed(context)).containsExactly("k");
		});
	}

	private static void assertReplayed(AssertableApplicationContext context, String key) {
		assertThat(committed(context)).containsExactly(key);
		context.getBean(ForgetfulStore.class).forget();
		assertThat(context.getBean(SurroundedShop.class).transaction(key)).isEqualTo(1);
	}

	/**
	 * Runs work that takes part in a transaction that has ended.
	 */
	private static @Nullable Throwable afterCompletion(AssertableApplicationContext context, Runnable work) {
		AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
		IntConsumer callback = (status) -> failure
			.set(catchThrowable(() -> SurroundedShop.required(manager(context), work)));
		SurroundedShop.required(manager(context), () -> SurroundedShop.afterCompletion(callback));
		return failure.get();
	}

	private static void register(int order, Runnable work) {
		TransactionSynchronizationManager.registerSynchronization(new Priority(order, work));
	}

	private static List<String> committed(AssertableApplicationContext context) {
		return context.getBean(Effects.class).committed();
	}

	private static List<Boolean> completed(AssertableApplicationContext context) {
		return database(context).queryForList("select completed from idempotency_record", Boolean.class);
	}

	private static @Nullable String status(AssertableApplicationContext context) {
		return database(context).queryForObject("select status from thing", String.class);
	}

	private static GuardedTransitions<State> things(AssertableApplicationContext context) {
		database(context).execute("create table thing (id int primary key, status varchar(10), version int)");
		database(context).update("insert into thing values (1, 'OPEN', 0)");
		return GuardedTransitions
			.table(context.getBean(DataSource.class), "thing",
					Transitions.of(State.class).allow(State.OPEN, State.PAID).build())
			.build();
	}

	private static JdbcTemplate database(AssertableApplicationContext context) {
		return new JdbcTemplate(context.getBean(DataSource.class));
	}

	private static PlatformTransactionManager manager(AssertableApplicationContext context) {
		return context.getBean("transactionManager", PlatformTransactionManager.class);
	}

	private static PlatformTransactionManager second(AssertableApplicationContext context) {
		return context.getBean("second", PlatformTransactionManager.class);
	}

	private static void run(Consumer<AssertableApplicationContext> test, Class<?>... configurations) {
		MethodApplication.with(SurroundedShop.class).withUserConfiguration(configurations).run(test::accept);
	}

	enum State {

		OPEN, PAID

	}

	private record Priority(int order, Runnable work) implements TransactionSynchronization, PriorityOrdered {

		@Override
		public int getOrder() {
			return this.order;
		}

		@Override
		public void beforeCommit(boolean readOnly) {
			this.work.run();
		}

	}

	static class Trip {

		private final SagaSteps saga;

		Trip(SagaSteps saga) {
			this.saga = saga;
		}

		@Saga(key = "#id", name = "trip")
		public @Nullable String book(String id) {
			this.saga.step("book").run(() -> {
			});
			return id;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportSagas
	@Import(Trip.class)
	static class Trips {

	}

	@Configuration(proxyBeanMethods = false)
	static class Second {

		@Bean
		@Primary
		JdbcTransactionManager transactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

		@Bean(defaultCandidate = false)
		JdbcTransactionManager second() {
			return new JdbcTransactionManager(
					new EmbeddedDatabaseBuilder().setType(EmbeddedDatabaseType.H2).generateUniqueName(true).build());
		}

	}

}
