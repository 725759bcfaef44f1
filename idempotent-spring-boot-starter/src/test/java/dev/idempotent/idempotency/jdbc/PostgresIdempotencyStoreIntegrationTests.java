package dev.idempotent.idempotency.jdbc;

import java.time.Duration;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyStore.PendingKeys;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.test.IdempotencyStoreContract;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.transaction.OwnTransactions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

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

	@Test
	void listsARunningKeyOfATableWithManyResponses() {
		RecordTable table = RecordTable.create(postgres.connect(), "postgresql", "listed_record");
		table.template().update("truncate table " + table.name());
		table.template()
			.update("insert into " + table.name() + " select 'done ' || number, 'owner', 1, '', true, '\\x01', now() + "
					+ "interval '1 day' from generate_series(1, 50000) number");
		JdbcIdempotencyStore large = new JdbcIdempotencyStore(new OwnTransactions(table.dataSource()), table.name());
		IdempotencyKey running = Samples.key();
		large.claim(running, Samples.fingerprint("request"), "owner", Duration.ofMinutes(1), Samples.run());
		PendingKeys listed = large.findPending(10_000);
		assertThat(listed.keys()).containsOnlyKeys(running);
		assertThat(listed.within()).isGreaterThan(Duration.ofHours(23));
		large.close();
	}

}
