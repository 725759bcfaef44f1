package dev.idempotent.idempotency.jdbc;

import dev.idempotent.jdbc.TableSweeper;
import org.junit.jupiter.api.BeforeAll;

/**
 * Tests for {@link TableSweeper} on H2.
 */
class H2SweeperTests extends SweeperContract {

	private static RecordTable table;

	@BeforeAll
	static void createTable() {
		table = RecordTable.inMemory();
	}

	@Override
	RecordTable table() {
		return table;
	}

}
