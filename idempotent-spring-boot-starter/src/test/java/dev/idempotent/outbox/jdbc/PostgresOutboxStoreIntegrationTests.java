package dev.idempotent.outbox.jdbc;

import java.util.List;

import javax.sql.DataSource;

import dev.idempotent.outbox.OutboxStoreSteps;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link JdbcOutboxStore} on PostgreSQL.
 */
class PostgresOutboxStoreIntegrationTests extends JdbcOutboxStoreContract {

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

	@Nested
	class PostgresTests extends OutboxStoreSteps {

		@Override
		protected StoreOnTables tested() {
			return tables("contract");
		}

		@Test
		void beginsALeaseAtTheAppendEvenInAnOldTransaction() {
			assertThat(store().leasesAtAppend()).isTrue();
			inTransaction(() -> {
				tested().template().queryForList("select pg_sleep(0.3)");
				long row = store().append(List.of(event("one")), lease()).get(0).sequence();
				return assertThat(tested().template()
					.queryForObject(
							"select available_at >= transaction_timestamp() + interval '10 minutes 300 ms' from "
									+ tested().tables().event() + " where id = ?",
							Boolean.class, row))
					.isTrue();
			});
			assertThat(claim()).isEmpty();
		}

	}

}
