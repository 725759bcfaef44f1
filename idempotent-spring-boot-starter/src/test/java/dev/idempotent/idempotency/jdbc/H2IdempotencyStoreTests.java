package dev.idempotent.idempotency.jdbc;

import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.test.IdempotencyStoreContract;
import dev.idempotent.transaction.OwnTransactions;
import org.junit.jupiter.api.BeforeAll;

/**
 * Tests for {@link JdbcIdempotencyStore} on H2.
 */
class H2IdempotencyStoreTests extends IdempotencyStoreContract {

	private static JdbcIdempotencyStore store;

	@BeforeAll
	static void connect() {
		RecordTable table = RecordTable.inMemory();
		store = new JdbcIdempotencyStore(new OwnTransactions(table.dataSource()), table.name());
	}

	@Override
	public IdempotencyStore store() {
		return store;
	}

}
