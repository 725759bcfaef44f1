package dev.idempotent.idempotency.jdbc;

import org.junit.jupiter.api.BeforeAll;

/**
 * Counts the statements on H2.
 */
class H2StatementsTests extends StatementsContract {

	private static RecordTable table;

	@BeforeAll
	static void createTable() {
		table = RecordTable.inMemory();
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
