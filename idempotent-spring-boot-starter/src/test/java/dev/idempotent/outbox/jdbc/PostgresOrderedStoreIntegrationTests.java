package dev.idempotent.outbox.jdbc;

import javax.sql.DataSource;

import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests for {@link JdbcOrderedStore} on PostgreSQL.
 */
class PostgresOrderedStoreIntegrationTests extends JdbcOrderedStoreContract {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private static DataSource pool;

	@BeforeAll
	static void connect() {
		pool = postgres.connect();
	}

	@Override
	StoreOnTables create(String name) {
		return StoreOnTables.create(pool, "postgresql", name + "_outbox_");
	}

	@ParameterizedTest
	@CsvSource({ "cache 20, caches 20, cache 1", "increment -1, decrease, increment 1", "cycle, repeat, no cycle" })
	void rejectsASequenceThatDoesNotIncrease(String setting, String reason, String remedy) {
		OrderedOnTables tables = tables("ids");
		String alter = "alter table " + tables.table() + " alter column id set ";
		tables.template().execute(alter + setting);
		OrderedIdsContract.rejects(tables.store(), reason, alter + remedy);
		tables.template().execute(alter + remedy);
		tables.store().requireIncreasingRows();
	}

}
