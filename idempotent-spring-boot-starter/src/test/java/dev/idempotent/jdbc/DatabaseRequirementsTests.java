package dev.idempotent.jdbc;

import java.util.Map;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.IdempotentConfigurationException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.jta.JtaTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link DatabaseRequirements}.
 */
public class DatabaseRequirementsTests {

	static Stream<DataSource> routers() {
		DataSource router = new ByTenant();
		LazyConnectionDataSourceProxy lazy = new LazyConnectionDataSourceProxy();
		lazy.setTargetDataSource(router);
		return Stream.of(router, new DelegatingDataSource(router), lazy,
				new TransactionAwareDataSourceProxy(new DelegatingDataSource(lazy)));
	}

	@ParameterizedTest
	@MethodSource("routers")
	void findARouterBehindItsDelegates(DataSource dataSource) {
		assertThat(DatabaseRequirements.findRouter(dataSource)).isEqualTo(ByTenant.class.getName());
	}

	@Test
	void findNoRouterOfASingleDatabase() {
		DataSource one = new DriverManagerDataSource("jdbc:h2:mem:one");
		LazyConnectionDataSourceProxy readersApart = new LazyConnectionDataSourceProxy();
		readersApart.setTargetDataSource(one);
		readersApart.setReadOnlyDataSource(one);
		assertThat(Stream.of(one, readersApart, new HikariDataSource(), new DelegatingDataSource(one)))
			.allSatisfy((dataSource) -> assertThat(DatabaseRequirements.findRouter(dataSource)).isNull());
	}

	@Test
	void refuseAManagerOfSeveralDatabases() {
		DataSource one = new DriverManagerDataSource("jdbc:h2:mem:one");
		PlatformTransactionManager first = new JdbcTransactionManager(one);
		assertThat(requireTransactions(first, one)).isTrue();
		assertThatExceptionOfType(IdempotentConfigurationException.class)
			.isThrownBy(() -> requireTransactions(
					new Chain(first, new JdbcTransactionManager(new DriverManagerDataSource("jdbc:h2:mem:other"))),
					one))
			.withMessageContaining("Chain) commits the transactions of several databases one after another");
		new TransactionTemplate(new JdbcTransactionManager(new DriverManagerDataSource("jdbc:h2:mem:other")))
			.executeWithoutResult((status) -> assertThat(requireTransactions(first, one)).isTrue());
	}

	@Test
	void refuseJta() {
		DataSource one = new DriverManagerDataSource("jdbc:h2:mem:one");
		assertThatExceptionOfType(IdempotentConfigurationException.class)
			.isThrownBy(() -> requireTransactions(new JtaTransactionManager() {
			}, one))
			.withMessageContaining("is one of JTA, which is not supported");
	}

	private static boolean requireTransactions(PlatformTransactionManager manager, DataSource dataSource) {
		return DatabaseRequirements.requireTransactions(manager, dataSource, "A test needs it", "the test");
	}

	/**
	 * Commits the transactions of two managers in turn.
	 */
	private record Chain(PlatformTransactionManager first,
			PlatformTransactionManager second) implements PlatformTransactionManager {

		@Override
		public TransactionStatus getTransaction(@Nullable TransactionDefinition definition) {
			TransactionStatus status = this.first.getTransaction(definition);
			return new Both(status, this.second.getTransaction(definition));
		}

		@Override
		public void commit(TransactionStatus status) {
			this.second.commit(((Both) status).second());
			this.first.commit(((Both) status).first());
		}

		@Override
		public void rollback(TransactionStatus status) {
			this.second.rollback(((Both) status).second());
			this.first.rollback(((Both) status).first());
		}

	}

	private record Both(TransactionStatus first, TransactionStatus second) implements TransactionStatus {

		@Override
		public Object createSavepoint() {
			throw new UnsupportedOperationException();
		}

		@Override
		public void rollbackToSavepoint(Object savepoint) {
			throw new UnsupportedOperationException();
		}

		@Override
		public void releaseSavepoint(Object savepoint) {
			throw new UnsupportedOperationException();
		}

	}

	/**
	 * A database for each tenant.
	 */
	public static final class ByTenant extends AbstractRoutingDataSource {

		public ByTenant() {
			DataSource one = new DriverManagerDataSource("jdbc:h2:mem:by-tenant;DB_CLOSE_DELAY=-1", "sa", "");
			setTargetDataSources(Map.of("one", one));
			setDefaultTargetDataSource(one);
			afterPropertiesSet();
		}

		@Override
		protected Object determineCurrentLookupKey() {
			return "one";
		}

	}

}
