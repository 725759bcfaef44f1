package dev.idempotent.idempotency.jdbc;

import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.test.IdempotencyStoreContract;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.transaction.OwnTransactions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Tests for {@link JdbcIdempotencyStore} on PostgreSQL.
 */
class PostgresIdempotencyStoreIntegrationTests extends IdempotencyStoreContract {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private static JdbcIdempotencyStore store;

	@BeforeAll
	static void connect() {
		RecordTable table = RecordTable.create(postgres.connect(), "postgresql", "contract_record");
		store = new JdbcIdempotencyStore(new OwnTransactions(table.dataSource()), table.name());
	}

	@Override
	public IdempotencyStore store() {
		return store;
	}

}
