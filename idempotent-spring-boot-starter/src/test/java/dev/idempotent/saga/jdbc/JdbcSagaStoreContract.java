package dev.idempotent.saga.jdbc;

import java.time.Duration;

import dev.idempotent.saga.run.SagaAdministration;
import dev.idempotent.saga.run.SagaStore;
import dev.idempotent.saga.run.SagaStoreContract;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * All promises for a {@link JdbcSagaStore} on one database.
 */
abstract class JdbcSagaStoreContract extends SagaStoreContract {

	abstract SagaRows rows();

	@Override
	protected SagaStore store(Duration lockTimeout) {
		return new JdbcSagaStore(rows().dataSource(), rows().tables(), lockTimeout);
	}

	@Override
	protected SagaAdministration administration() {
		return new JdbcSagaAdministration(rows().dataSource(), rows().tables());
	}

	@Override
	protected TransactionTemplate transactions() {
		return new TransactionTemplate(new DataSourceTransactionManager(rows().dataSource()));
	}

	@Override
	protected void pass(Duration time) {
		rows().pass(time);
	}

	@Override
	protected int sweep() {
		return new JdbcSagaAdministration(rows().dataSource(), rows().tables()).sweeper(Duration.ofMinutes(1)).sweep();
	}

	@Override
	protected void clear() {
		rows().clear();
	}

}
