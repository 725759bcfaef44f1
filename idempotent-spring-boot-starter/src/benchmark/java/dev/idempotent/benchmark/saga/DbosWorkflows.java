package dev.idempotent.benchmark.saga;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;

import javax.sql.DataSource;

import dev.dbos.transact.DBOS;
import dev.dbos.transact.config.DBOSConfig;
import dev.dbos.transact.txstep.JdbcStepFactory;
import dev.dbos.transact.workflow.Workflow;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;

/**
 * Workflows of DBOS Transact: steps, and transactional steps of its factory for JDBC. Its
 * tables are in the database of the application, and it uses the same pool.
 */
final class DbosWorkflows implements SagaContender {

	static final String NAME = "dbos";

	private final Store store;

	private final DBOS dbos;

	private final Purchases purchases;

	DbosWorkflows(Store.Servers servers) {
		this.store = Store.open(NAME, servers, Empty.class, "idempotent.enabled=false",
				"idempotent.outbox.enabled=false", "idempotent.saga.enabled=false");
		DataSource pool = this.store.bean(DataSource.class);
		this.dbos = new DBOS(DBOSConfig.defaults(NAME).withDataSource(pool));
		JdbcStepFactory transactional = new JdbcStepFactory(this.dbos, pool);
		this.purchases = this.dbos.registerProxy(Purchases.class, new Shop(this.dbos, transactional));
		this.dbos.launch();
	}

	@Override
	public String name() {
		return NAME;
	}

	@Override
	public void transactions() {
		this.purchases.inTransactions();
	}

	@Override
	public void calls() {
		this.purchases.withCalls();
	}

	@Override
	public void tidy() {
		List<String> tables = this.store.database()
			.sql()
			.queryForList("select format('%I.%I', schemaname, tablename) from pg_tables where tablename in"
					+ " ('work', 'workflow_status', 'operation_outputs', 'tx_step_outputs')", String.class);
		this.store.database().sql().execute("truncate table " + String.join(", ", tables) + " cascade");
		this.store.database().tidy();
	}

	@Override
	public void close() {
		this.dbos.shutdown();
		this.store.close();
	}

	/**
	 * The workflows.
	 */
	interface Purchases {

		/**
		 * Runs three transactional steps.
		 */
		void inTransactions();

		/**
		 * Runs three steps.
		 */
		void withCalls();

	}

	/**
	 * The implementation of the workflows.
	 */
	static final class Shop implements Purchases {

		private final DBOS dbos;

		private final JdbcStepFactory transactional;

		Shop(DBOS dbos, JdbcStepFactory transactional) {
			this.dbos = dbos;
			this.transactional = transactional;
		}

		@Workflow(name = "inTransactions")
		@Override
		public void inTransactions() {
			for (String step : OwnSagas.STEPS) {
				this.transactional.txStep((Connection connection) -> insert(connection, step), step);
			}
		}

		@Workflow(name = "withCalls")
		@Override
		public void withCalls() {
			for (String step : OwnSagas.STEPS) {
				this.dbos.runStep(() -> {
				}, step);
			}
		}

		private static int insert(Connection connection, String step) {
			try (PreparedStatement statement = connection.prepareStatement(Store.INSERT)) {
				statement.setString(1, step);
				statement.setInt(2, 1);
				return statement.executeUpdate();
			}
			catch (SQLException ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

	@EnableAutoConfiguration
	@Configuration(proxyBeanMethods = false)
	static class Empty {

	}

}
