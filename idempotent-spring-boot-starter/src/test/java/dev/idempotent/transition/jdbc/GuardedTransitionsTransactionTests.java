package dev.idempotent.transition.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import dev.idempotent.transition.IllegalTransitionException;
import dev.idempotent.transition.jdbc.OrderTable.OrderStatus;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static dev.idempotent.transition.jdbc.OrderTable.OrderStatus.PAID;
import static dev.idempotent.transition.jdbc.OrderTable.OrderStatus.PENDING;
import static dev.idempotent.transition.jdbc.OrderTable.OrderStatus.SHIPPED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Moves and the transaction of their caller.
 */
class GuardedTransitionsTransactionTests {

	private final DataSource dataSource = database("transactions");

	private final DataSource other = database("other");

	private final TransactionTemplate transaction = on(this.dataSource);

	private final OrderTable orders = OrderTable.create(this.dataSource, "orders", "bigint");

	@BeforeEach
	void insert() {
		this.orders.insert(1, "PENDING");
	}

	@Test
	void requireATransaction() {
		assertThatExceptionOfType(IllegalTransactionStateException.class).isThrownBy(this::move)
			.withMessage("No row of orders was moved, because there is no transaction: make the method that moves "
					+ "@Transactional, or use a TransactionTemplate");
		assertUnmoved();
	}

	@Test
	void requireATransactionOnTheirDataSource() {
		on(this.other).executeWithoutResult((status) -> assertElsewhere());
		assertUnmoved();
	}

	/**
	 * The statement before has bound a connection, which commits each statement by
	 * itself.
	 */
	@Test
	void areNotFooledByAConnectionThatIsOnlySynchronizedWithATransaction() {
		on(this.other).executeWithoutResult((status) -> {
			new JdbcTemplate(this.dataSource).queryForObject("select count(*) from orders", Long.class);
			assertElsewhere();
		});
		assertUnmoved();
	}

	@Test
	void requireATransactionThatCanWrite() {
		this.transaction.setReadOnly(true);
		this.transaction.executeWithoutResult(
				(status) -> assertThatExceptionOfType(IllegalTransactionStateException.class).isThrownBy(this::move)
					.withMessageContaining("because the transaction is read-only"));
		assertUnmoved();
	}

	@Test
	void requireATransactionThatHasNotEnded() {
		this.transaction.executeWithoutResult(
				(status) -> TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
					@Override
					public void afterCompletion(int status) {
						assertThatExceptionOfType(IllegalTransactionStateException.class)
							.isThrownBy(GuardedTransitionsTransactionTests.this::move)
							.withMessageContaining("because the transaction has ended");
					}
				}));
		assertUnmoved();
	}

	@Test
	void areRefusedAfterTheCommitOfATransactionThatHasMoved() {
		this.transaction.executeWithoutResult((status) -> {
			move().orThrow();
			after(() -> assertThatExceptionOfType(IllegalTransactionStateException.class)
				.isThrownBy(() -> this.orders.guarded().move(1, PAID, SHIPPED))
				.withMessageContaining("because the transaction has ended"));
		});
		assertThat(this.orders.row(1)).isEqualTo("PAID 1");
	}

	@Test
	void areRefusedIfTheFirstIsAfterTheCommit() {
		this.transaction.executeWithoutResult((status) -> before(() -> move().orThrow()));
		this.transaction.executeWithoutResult(
				(status) -> after(() -> assertThatExceptionOfType(IllegalTransactionStateException.class)
					.isThrownBy(() -> this.orders.guarded().move(1, PAID, SHIPPED))
					.withMessageContaining("because the transaction has ended")));
		assertThat(this.orders.row(1)).isEqualTo("PAID 1");
	}

	@Test
	void mayBeInATransactionOfTheirOwnAfterTheCommit() {
		TransactionTemplate own = on(this.dataSource);
		own.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		this.transaction.executeWithoutResult((status) -> {
			move().orThrow();
			after(() -> own.executeWithoutResult((inner) -> this.orders.guarded().move(1, PAID, SHIPPED).orThrow()));
		});
		assertThat(this.orders.row(1)).isEqualTo("SHIPPED 2");
	}

	@Test
	void joinTheTransactionBehindAProxy() {
		GuardedTransitions<OrderStatus> proxied = GuardedTransitions
			.table(new TransactionAwareDataSourceProxy(this.dataSource), "orders", OrderStatus.TRANSITIONS)
			.build();
		this.transaction.executeWithoutResult((status) -> {
			proxied.move(1, PENDING, PAID).orThrow();
			status.setRollbackOnly();
		});
		assertUnmoved();
	}

	@Test
	void checkTheTransitionBeforeTheyNeedATransactionOrADatabase() {
		GuardedTransitions<OrderStatus> broken = GuardedTransitions
			.table(new Unreachable(), "orders", OrderStatus.TRANSITIONS)
			.build();
		assertThatExceptionOfType(IllegalTransitionException.class).isThrownBy(() -> broken.move(1, PENDING, SHIPPED));
		assertThatExceptionOfType(IllegalTransitionException.class)
			.isThrownBy(() -> broken.move(1, PENDING, SHIPPED, 0));
	}

	private static void before(Runnable work) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
			@Override
			public void beforeCommit(boolean readOnly) {
				work.run();
			}
		});
	}

	private static void after(Runnable work) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
			@Override
			public void afterCommit() {
				work.run();
			}
		});
	}

	private void assertElsewhere() {
		assertThatExceptionOfType(IllegalTransactionStateException.class).isThrownBy(this::move)
			.withMessage("No row of orders was moved, because the transaction is not on the DataSource of this table: "
					+ "name the transaction manager of that DataSource in @Transactional");
	}

	private void assertUnmoved() {
		assertThat(this.orders.row(1)).isEqualTo("PENDING 0");
	}

	private TransitionResult<OrderStatus> move() {
		return this.orders.guarded().move(1, PENDING, PAID);
	}

	private static TransactionTemplate on(DataSource dataSource) {
		return new TransactionTemplate(new JdbcTransactionManager(dataSource));
	}

	private static DataSource database(String name) {
		JdbcDataSource database = new JdbcDataSource();
		database.setURL("jdbc:h2:mem:guarded-" + name + ";DB_CLOSE_DELAY=-1");
		return database;
	}

	private static final class Unreachable extends AbstractDataSource {

		@Override
		public Connection getConnection() throws SQLException {
			throw new SQLException("unreachable");
		}

		@Override
		public Connection getConnection(String user, String password) throws SQLException {
			return getConnection();
		}

	}

}
