package dev.idempotent.saga.jdbc;

import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static dev.idempotent.saga.engine.SagaSamples.LEASE;
import static org.assertj.core.api.Assertions.assertThat;
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

	@ParameterizedTest
	@ValueSource(strings = { "on", "off" })
	void leavesThePlannerOfTheTransactionAsItWas(String before) {
		transactions().executeWithoutResult((status) -> {
			rows.template().execute("set local enable_seqscan = " + before);
			this.store.insertInTransaction(this.saga);
			assertThat(this.store.writeInTransaction(this.owner, 1, this.done, LEASE)).isTrue();
			assertThat(rows.template().queryForObject("select current_setting('enable_seqscan')", String.class))
				.isEqualTo(before);
		});
		assertThat(this.store.find(this.saga.id())).isNotNull();
		assertThat(rows.template().queryForObject("select current_setting('enable_seqscan')", String.class))
			.isEqualTo("on");
	}

	@Override
	protected void awaitAWaitingInsert() {
		await().until(() -> rows.template()
			.queryForObject("select count(*) from pg_stat_activity where wait_event_type = 'Lock' "
					+ "and query like '%saga_contract_instance%'", Long.class),
				Long.valueOf(1)::equals);
	}

}
