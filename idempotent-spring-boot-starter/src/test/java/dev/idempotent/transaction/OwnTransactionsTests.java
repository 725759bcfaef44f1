package dev.idempotent.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;

import javax.sql.DataSource;

import org.h2.Driver;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link OwnTransactions}.
 */
class OwnTransactionsTests {

	private final List<Thread> openers = new CopyOnWriteArrayList<>();

	private final DataSource dataSource = new DelegatingDataSource(h2()) {

		@Override
		public Connection getConnection() throws SQLException {
			OwnTransactionsTests.this.openers.add(Thread.currentThread());
			return super.getConnection();
		}

	};

	private final TransactionTemplate caller = new TransactionTemplate(new JdbcTransactionManager(this.dataSource));

	@Test
	void restoreTheIsolationOfAConnectionAfterAFailure() throws SQLException {
		try (Connection only = this.dataSource.getConnection()) {
			only.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
			OwnTransactions transactions = new OwnTransactions(new SingleConnectionDataSource(only, true));
			assertThatIllegalStateException().isThrownBy(() -> transactions.runInTransaction((connection) -> {
				throw new IllegalStateException("The work fails");
			}));
			assertThat(only.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_SERIALIZABLE);
		}
	}

	@Test
	void areOnTheDataSourceThatManagersBind() {
		DataSource proxy = new TransactionAwareDataSourceProxy(new TransactionAwareDataSourceProxy(this.dataSource));
		try (OwnTransactions transactions = new OwnTransactions(proxy)) {
			assertThat(transactions.dataSource()).isSameAs(this.dataSource);
			DataSource other = h2();
			assertThat(transactions.on(new TransactionAwareDataSourceProxy(other)).dataSource()).isSameAs(other);
		}
	}

	@Test
	void endTheThreadsThatOpenSecondConnections() throws InterruptedException {
		try (OwnTransactions transactions = new OwnTransactions(this.dataSource)) {
			runInCallersTransaction(transactions);
			runInCallersTransaction(transactions.on(this.dataSource));
		}
		List<Thread> opened = new ArrayList<>(this.openers);
		opened.removeIf((thread) -> thread == Thread.currentThread());
		assertThat(opened).isNotEmpty();
		for (Thread each : opened) {
			// Less than the ten seconds after which an idle one ends by itself.
			each.join(8000);
			assertThat(each.isAlive()).isFalse();
		}
	}

	@Test
	void openNoSecondConnectionAfterTheirEnd() {
		OwnTransactions transactions = new OwnTransactions(this.dataSource);
		transactions.close();
		assertThat(transactions.<Boolean>run(OwnTransactionsTests::isOpen)).isTrue();
		assertThatExceptionOfType(DataAccessResourceFailureException.class)
			.isThrownBy(() -> runInCallersTransaction(transactions))
			.withRootCauseInstanceOf(RejectedExecutionException.class)
			.havingCause()
			.withMessageContaining("shuts down");
	}

	private void runInCallersTransaction(OwnTransactions transactions) {
		this.caller.executeWithoutResult(
				(status) -> assertThat(transactions.<Boolean>run(OwnTransactionsTests::isOpen)).isTrue());
	}

	private static boolean isOpen(Connection connection) {
		try {
			return !connection.isClosed();
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static DataSource h2() {
		return new SimpleDriverDataSource(new Driver(), "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
	}

}
