package dev.idempotent.idempotency.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.test.IdempotencyStoreContract;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.transaction.OwnTransactions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Tests for {@link JdbcIdempotencyStore} with a pool whose connections are neither in
 * auto-commit mode nor READ COMMITTED.
 */
@Tag("long")
class SerializableStoreIntegrationTests extends IdempotencyStoreContract {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private static JdbcIdempotencyStore store;

	@BeforeAll
	static void connect() {
		RecordTable table = RecordTable.create(postgres.connect(), "postgresql", "serializable_record");
		HikariDataSource strict = postgres.connect();
		strict.setAutoCommit(false);
		strict.setTransactionIsolation("TRANSACTION_SERIALIZABLE");
		store = new JdbcIdempotencyStore(new OwnTransactions(strict), table.name());
	}

	@Override
	public IdempotencyStore store() {
		return store;
	}

}
