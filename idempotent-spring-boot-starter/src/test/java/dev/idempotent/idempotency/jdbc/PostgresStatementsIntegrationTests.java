package dev.idempotent.idempotency.jdbc;

import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Counts the statements on PostgreSQL.
 */
class PostgresStatementsIntegrationTests extends StatementsContract {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private static RecordTable table;

	@BeforeAll
	static void createTable() {
		table = RecordTable.create(postgres.connect(), "postgresql", "statements_record");
	}

	@Override
	RecordTable table() {
		return table;
	}

	@Override
	int statementsForALimit() {
		return 0;
	}

}
