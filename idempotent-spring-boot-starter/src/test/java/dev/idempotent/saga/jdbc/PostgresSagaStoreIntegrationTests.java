package dev.idempotent.saga.jdbc;

import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link JdbcSagaStore} on PostgreSQL.
 */
class PostgresSagaStoreIntegrationTests extends JdbcSagaStoreContract {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private static SagaRows rows;

	@BeforeAll
	static void createTables() {
		rows = SagaRows.create(postgres.connect(), "postgresql", "saga_contract_");
	}

	@Override
	SagaRows rows() {
		return rows;
	}

	@Override
	protected void awaitAWaitingInsert() {
		await().until(() -> rows.template()
			.queryForObject("select count(*) from pg_stat_activity where wait_event_type = 'Lock' "
					+ "and query like '%saga_contract_instance%'", Long.class),
				Long.valueOf(1)::equals);
	}

}
