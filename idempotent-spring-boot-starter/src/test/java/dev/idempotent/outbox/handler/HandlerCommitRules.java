package dev.idempotent.outbox.handler;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import javax.sql.DataSource;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.testing.LostCommitReplies;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.BeanUtils;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The rules, and how handlers commit.
 */
abstract class HandlerCommitRules extends HandlerRules {

	@Test
	void handleAnEventOnceIfTheReplyToTheirCommitIsLost() {
		HandlerShop shop = open(List.of(LostCommitReplies.OfOneThread.class), HandlerShop.OFTEN);
		AtomicInteger calls = new AtomicInteger();
		shop.handlers().whenBooking((id) -> {
			calls.incrementAndGet();
			LostCommitReplies.OfOneThread.expect();
		});
		shop.append(HandlerShop.event("order.placed", "1").withKey("1"));
		awaitNoRows(shop);
		// Others see the commit before its reply.
		await().until(LostCommitReplies.OfOneThread::isLost);
		assertThat(calls).hasValue(1);
		assertThat(shop.work("book")).containsExactly("1");
		assertThat(shop.dead()).isEmpty();
	}

	@Test
	void areNotCalledIfAnotherInstanceHasClaimedTheEvent() {
		HandlerShop shop = open(List.of(Overtaking.class), HandlerShop.OFTEN);
		AtomicInteger calls = new AtomicInteger();
		shop.handlers().whenBooking((id) -> calls.incrementAndGet());
		shop.leaveBehind("handlers:book", "1", "{\"id\":\"1\"}", 1);
		awaitNoRows(shop);
		assertThat(shop.bean(Overtaking.class).attempts).hasValueGreaterThan(1);
		assertThat(calls).hasValue(1);
		assertThat(shop.work("book")).containsExactly("1");
		assertThat(shop.lost()).isOne();
	}

	@Test
	void countNoAttemptIfThereIsNoConnection() {
		HandlerShop shop = open(List.of(Refusals.class), HandlerShop.OFTEN, "idempotent.outbox.handlers.attempts=1");
		shop.append(HandlerShop.event("order.placed", "1").withKey("1"));
		awaitNoRows(shop);
		assertThat(shop.bean(Refusals.class).refused).hasValueGreaterThanOrEqualTo(3);
		assertThat(shop.work("book")).containsExactly("1");
		assertThat(shop.dead()).isEmpty();
	}

	/**
	 * Spring does not roll back for a {@code TransactionException}, which it takes for
	 * one of the commit itself.
	 */
	@ParameterizedTest
	@ValueSource(classes = { IllegalStateException.class, CannotCreateTransactionException.class,
			UnexpectedRollbackException.class })
	void handleAnEventAgainIfTheirCommitFails(Class<? extends RuntimeException> failure) {
		HandlerShop shop = open(HandlerShop.OFTEN);
		AtomicInteger calls = new AtomicInteger();
		shop.handlers()
			.whenBooking(
					(id) -> TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

						@Override
						public void beforeCommit(boolean readOnly) {
							if (calls.incrementAndGet() == 1) {
								throw failure(failure);
							}
						}

					}));
		shop.append(HandlerShop.event("order.placed", "1"));
		awaitNoRows(shop);
		assertThat(calls).hasValue(2);
		assertThat(shop.work("book")).containsExactly("1");
	}

	private static RuntimeException failure(Class<? extends RuntimeException> type) {
		try {
			return BeanUtils.instantiateClass(ReflectionUtils.accessibleConstructor(type, String.class), "not yet");
		}
		catch (NoSuchMethodException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Some statements do so implicitly, such as DDL on MySQL and H2.
	 */
	@Test
	void areCalledAgainIfTheyHaveCommittedAndFailed() {
		HandlerShop shop = open(HandlerShop.OFTEN);
		AtomicInteger calls = new AtomicInteger();
		shop.handlers().whenBooking((id) -> {
			if (calls.incrementAndGet() == 1) {
				commit(shop.bean(DataSource.class));
				throw new IllegalStateException("not yet");
			}
		});
		shop.append(HandlerShop.event("order.placed", "1").withKey("1"));
		awaitNoRows(shop);
		assertThat(calls).hasValue(2);
		assertThat(shop.work("book")).containsExactly("1", "1");
		assertThat(shop.lost()).isZero();
	}

	/**
	 * Whose process dies before it notices, so that only the row in the table is left.
	 */
	@Test
	void keepTheirEventIfTheyCommitBeforeTheirWorkIsDone() {
		HandlerShop shop = open(HandlerShop.OFTEN);
		AtomicInteger rows = new AtomicInteger(-1);
		shop.handlers().whenBooking((id) -> {
			if (rows.get() < 0) {
				commit(shop.bean(DataSource.class));
				rows.set(shop.newTransaction().execute((status) -> shop.rowsOf("handlers:book")));
				throw new IllegalStateException("As if the process had died");
			}
		});
		shop.append(HandlerShop.event("order.placed", "1").withKey("1"));
		awaitNoRows(shop);
		assertThat(rows).hasValue(1);
		assertThat(shop.work("book")).containsExactly("1", "1");
	}

	@Test
	void commitNothingIfTheirManagerCannotRollBack() {
		HandlerShop shop = open(HandlerShop.OFTEN);
		AtomicInteger calls = new AtomicInteger();
		shop.handlers().whenBooking((id) -> {
			if (calls.incrementAndGet() == 1) {
				TransactionSynchronizationManager.clearSynchronization();
			}
		});
		shop.append(HandlerShop.event("order.placed", "1"));
		awaitNoRows(shop);
		assertThat(calls).hasValue(2);
		assertThat(shop.work("book")).containsExactly("1");
	}

	/**
	 * Behind the deletion of the event, which is undone: later events of the key must not
	 * overtake it, and what the other code writes then is not committed.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void areCalledAgainIfOtherCodeHasRolledBackBeforeTheirCommit(boolean goesOn) {
		HandlerShop shop = open(HandlerShop.OFTEN);
		List<String> calls = new CopyOnWriteArrayList<>();
		shop.handlers().whenBooking((id) -> {
			calls.add(id);
			if (calls.size() == 2) {
				TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void beforeCompletion() {
						rollBack(shop.bean(DataSource.class), goesOn);
					}

				});
			}
		});
		shop.append(HandlerShop.event("order.placed", "1").withKey("1"),
				HandlerShop.event("order.placed", "2").withKey("1"),
				HandlerShop.event("order.placed", "3").withKey("1"));
		awaitNoRows(shop);
		assertThat(calls).containsExactly("1", "2", "2", "3");
		assertThat(shop.work("book")).containsExactly("1", "2", "3");
		assertThat(shop.work("other")).isEmpty();
		assertThat(shop.dead()).isEmpty();
	}

	private static void rollBack(DataSource dataSource, boolean goesOn) {
		Connection connection = DataSourceUtils.getConnection(dataSource);
		try {
			connection.rollback();
			if (goesOn) {
				// Begins another transaction.
				connection.prepareStatement("insert into handler_work (handler, content) values ('other', '1')")
					.execute();
			}
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void commit(DataSource dataSource) {
		try {
			DataSourceUtils.getConnection(dataSource).commit();
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void areDoneOnceTheyHaveCommittedWhateverFollows() {
		HandlerShop shop = open(HandlerShop.OFTEN);
		AtomicInteger calls = new AtomicInteger();
		shop.handlers()
			.whenBooking(
					(id) -> TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

						@Override
						public void afterCommit() {
							calls.incrementAndGet();
							throw new IllegalStateException("too late");
						}

					}));
		shop.append(HandlerShop.event("order.placed", "1"));
		// The commit is seen before its callback is called.
		await().untilAsserted(() -> assertThat(calls).hasValue(1));
		awaitNoRows(shop);
		assertThat(calls).hasValue(1);
		assertThat(shop.work("book")).containsExactly("1");
		assertThat(shop.lost()).isZero();
	}

	/**
	 * Another instance claims an event after this one has done so, and fails.
	 */
	static final class Overtaking implements HandlerEnvironment.Observation {

		private final AtomicInteger attempts = new AtomicInteger();

		private final JdbcTemplate jdbc;

		Overtaking(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@Override
		public Outcome observe(SerializedEvent event, Supplier<Outcome> attempt) {
			if (event.topic().equals("handlers:book") && this.attempts.incrementAndGet() == 1) {
				this.jdbc.update("update handler_event set attempts = attempts + 1, due_at = null where id = ?",
						event.sequence());
			}
			return attempt.get();
		}

	}

	/**
	 * A pool that has no connection for the first three transactions of a handler.
	 */
	static final class Refusals implements HandlerEnvironment.Observation, BeanPostProcessor {

		private final AtomicInteger refused = new AtomicInteger();

		private volatile @Nullable Thread of;

		@Override
		public Outcome observe(SerializedEvent event, Supplier<Outcome> attempt) {
			if (event.topic().equals("handlers:book") && this.refused.get() < 3) {
				this.of = Thread.currentThread();
			}
			return attempt.get();
		}

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			return (bean instanceof DataSource real) ? new DelegatingDataSource(real) {

				@Override
				public Connection getConnection() throws SQLException {
					if (Refusals.this.of == Thread.currentThread()) {
						Refusals.this.of = null;
						Refusals.this.refused.incrementAndGet();
						throw new SQLTransientConnectionException("There is no connection");
					}
					return super.getConnection();
				}

			} : bean;
		}

	}

}
