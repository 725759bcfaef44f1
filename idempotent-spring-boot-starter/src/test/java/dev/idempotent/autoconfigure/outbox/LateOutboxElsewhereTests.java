package dev.idempotent.autoconfigure.outbox;

import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import dev.idempotent.outbox.OutboxTransactionException;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

import static dev.idempotent.autoconfigure.outbox.LateOutboxTests.append;
import static dev.idempotent.autoconfigure.outbox.LateOutboxTests.awaitDelivered;
import static dev.idempotent.autoconfigure.outbox.LateOutboxTests.pending;
import static dev.idempotent.autoconfigure.outbox.LateOutboxTests.run;
import static dev.idempotent.autoconfigure.outbox.LateOutboxTests.transaction;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for an outbox that is requested first in a transaction of another resource.
 */
class LateOutboxElsewhereTests {

	@Test
	void refusesATransactionOfAnotherResourceWhoseDatabaseConnectionCommitsByStatement() {
		run((context) -> {
			TransactionTemplate other = new TransactionTemplate(new OtherTransactions());
			other.executeWithoutResult((status) -> {
				new JdbcTemplate(context.getBean(DataSource.class)).queryForObject("select 1", Integer.class);
				assertThatExceptionOfType(OutboxTransactionException.class).isThrownBy(() -> append(context, "late"))
					.withMessageStartingWith("The transaction is not on the outbox's database");
			});
			assertThat(pending(context)).isZero();
		});
	}

	@Test
	void refusesATransactionOfAnotherResourceWhoseDatabaseConnectionIsNeverCommitted() {
		OnDemandApplication.with(ManualCommit.class).run((context) -> {
			TransactionTemplate other = new TransactionTemplate(new OtherTransactions());
			other.executeWithoutResult((status) -> {
				new JdbcTemplate(context.getBean(DataSource.class)).queryForObject("select 1", Integer.class);
				assertThatExceptionOfType(OutboxTransactionException.class).isThrownBy(() -> append(context, "lost"))
					.withMessageStartingWith("The transaction is not on the outbox's database");
			});
			transaction(context).executeWithoutResult((status) -> append(context, "kept"));
			awaitDelivered(context, "kept");
		});
	}

	/**
	 * As does {@code spring.datasource.hikari.auto-commit=false}.
	 */
	@Configuration(proxyBeanMethods = false)
	static class ManualCommit {

		@Bean
		static BeanPostProcessor manualCommit() {
			return new BeanPostProcessor() {

				@Override
				public Object postProcessAfterInitialization(Object bean, String beanName) {
					return (bean instanceof DataSource dataSource) ? new ManualCommitDataSource(dataSource) : bean;
				}

			};
		}

	}

	private static final class ManualCommitDataSource extends DelegatingDataSource {

		ManualCommitDataSource(DataSource target) {
			super(target);
		}

		@Override
		public Connection getConnection() throws SQLException {
			Connection connection = super.getConnection();
			connection.setAutoCommit(false);
			return connection;
		}

	}

	/**
	 * Transactions of a resource that has nothing to do with the database.
	 */
	private static final class OtherTransactions extends AbstractPlatformTransactionManager {

		@Override
		protected Object doGetTransaction() {
			return new Object();
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
		}

	}

}
