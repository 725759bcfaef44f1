package dev.idempotent.idempotency.jdbc;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyStoreFuzz;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.transaction.OwnTransactions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Fuzzes {@link JdbcIdempotencyStore} on PostgreSQL.
 */
class PostgresIdempotencyStoreFuzzIntegrationTests extends IdempotencyStoreFuzz {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private static RecordTable table;

	private static JdbcIdempotencyStore store;

	@BeforeAll
	static void connect() {
		table = RecordTable.create(postgres.connect(), "postgresql", "fuzz_record");
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
