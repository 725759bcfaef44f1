package dev.idempotent.idempotency.jdbc;

import java.time.Duration;
import java.util.List;

import dev.idempotent.idempotency.jdbc.JdbcIdempotencyStore.Sweepers;
import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.TableSweeper;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.transaction.OwnTransactions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.dao.IncorrectUpdateSemanticsDataAccessException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link TableSweeper} on PostgreSQL.
 */
class PostgresSweeperIntegrationTests extends SweeperContract {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private static RecordTable table;

	@BeforeAll
	static void createTable() {
		table = RecordTable.create(postgres.connect(), "postgresql", "sweeper_record");
	}

	@Override
	RecordTable table() {
		return table;
	}

	@Test
	void findsExpiredRowsByTheirIndex() {
		table.template()
			.execute("insert into sweeper_record select md5(n::text), '', 1, '', true, null, "
					+ "now() + interval '1 hour' from generate_series(1, 20000) n");
		table.template().execute("analyze sweeper_record");
		List<String> plan = table.template()
			.queryForList("explain " + RecordSql.expired(table.name(), Database.POSTGRESQL, 1000), String.class);
		assertThat(plan).anyMatch((line) -> line.contains("Index Scan using sweeper_record_expires_at"))
			.anyMatch((line) -> line.contains("Index Cond: (expires_at <= statement_timestamp())"));
	}

	@Test
	void failsIfKeysAreNotDeleted() {
		table.expire(1);
		table.template()
			.execute("create function sweeper_keep() returns trigger language plpgsql as 'begin return null; end'");
		table.template()
			.execute(
					"create trigger keep before delete on sweeper_record for each row execute function sweeper_keep()");
		try (TableSweeper sweeper = Sweepers.sweeper(new OwnTransactions(table.dataSource()), table.name(),
				Duration.ofMinutes(1))) {
			assertThatExceptionOfType(IncorrectUpdateSemanticsDataAccessException.class).isThrownBy(sweeper::sweep);
		}
		finally {
			table.template().execute("drop function sweeper_keep cascade");
		}
	}

}
