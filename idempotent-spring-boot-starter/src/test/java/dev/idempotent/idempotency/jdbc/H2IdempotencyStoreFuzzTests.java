package dev.idempotent.idempotency.jdbc;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyStoreFuzz;
import dev.idempotent.transaction.OwnTransactions;
import org.junit.jupiter.api.BeforeAll;

/**
 * Fuzzes {@link JdbcIdempotencyStore} on H2.
 */
class H2IdempotencyStoreFuzzTests extends IdempotencyStoreFuzz {

	private static RecordTable table;

	private static JdbcIdempotencyStore store;

	@BeforeAll
	static void connect() {
		table = RecordTable.inMemory();
		store = new JdbcIdempotencyStore(new OwnTransactions(table.dataSource()), table.name());
	}

	@Override
	protected IdempotencyStore store() {
		return store;
	}

	@Override
	protected void forget(IdempotencyKey key) {
		table.forget(key);
	}

}
