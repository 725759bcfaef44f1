package dev.idempotent.idempotency.jdbc;

import java.time.Duration;
import java.time.Instant;
import java.util.UUID;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.RunOrigin;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.transaction.OwnTransactions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests that {@link JdbcIdempotencyStore} stores the tokens of traced runs, or refuses a
 * table that cannot, or whose rows it may not change.
 */
@ExtendWith(OutputCaptureExtension.class)
class RecordTableCheckIntegrationTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Test
	void acceptsTheTableOfTheScript() {
		verifyAndClaim(RecordTable.inMemory());
		verifyAndClaim(RecordTable.create(postgres.connect(), "postgresql", "tokens"));
	}

	@Test
	void acceptsATokenColumnWithoutALimit() {
		RecordTable table = RecordTable.create(postgres.connect(), "postgresql", "unlimited_tokens");
		table.template().execute("alter table unlimited_tokens alter column token type text");
		verifyAndClaim(table);
	}

	@Test
	void refusesTheTokenColumnOfAnEarlierVersion() {
		RecordTable h2 = RecordTable.inMemory();
		h2.template().execute("alter table idempotency_record alter column token set data type varchar(64)");
		assertRefused(h2.dataSource(), RecordTable.DEFAULT);
		RecordTable table = RecordTable.create(postgres.connect(), "postgresql", "short_tokens");
		table.template().execute("alter table short_tokens alter column token type varchar(64)");
		assertRefused(table.dataSource(), "short_tokens");
	}

	@Test
	void refusesAUserWhoMayNotChangeRows() {
		RecordTable table = RecordTable.create(postgres.connect(), "postgresql", "read_tokens");
		table.template().execute("create role token_reader");
		table.template().execute("grant select, insert, delete on read_tokens to token_reader");
		try (HikariDataSource pool = postgres.connect()) {
			pool.setConnectionInitSql("set role token_reader");
			assertThatExceptionOfType(IdempotentConfigurationException.class)
				.isThrownBy(() -> new JdbcIdempotencyStore(new OwnTransactions(pool), "read_tokens").verify())
				.withMessageContaining("may not update rows of the table read_tokens");
			table.template().execute("grant update on read_tokens to token_reader");
			verifyAndClaim(pool, "read_tokens");
		}
		finally {
			table.template().execute("drop owned by token_reader");
			table.template().execute("drop role token_reader");
		}
	}

	@Test
	void acceptsRightsOnAllColumns() {
		RecordTable table = RecordTable.create(postgres.connect(), "postgresql", "column_tokens");
		String columns = String.join(", ", table.template()
			.queryForList("select column_name from information_schema.columns where table_name = 'column_tokens'",
					String.class));
		table.template().execute("create role token_writer");
		table.template().execute("grant select, delete on column_tokens to token_writer");
		table.template()
			.execute("grant insert (" + columns + "), update (" + columns + ") on column_tokens to token_writer");
		try (HikariDataSource pool = postgres.connect()) {
			pool.setConnectionInitSql("set role token_writer");
			verifyAndClaim(pool, "column_tokens");
		}
		finally {
			table.template().execute("drop owned by token_writer");
			table.template().execute("drop role token_writer");
		}
	}

	@Test
	@Timeout(value = 60, threadMode = ThreadMode.SEPARATE_THREAD)
	void doesNotWaitForALockedTable(CapturedOutput output) {
		RecordTable table = RecordTable.create(postgres.connect(), "postgresql", "locked_tokens");
		new TransactionTemplate(new JdbcTransactionManager(table.dataSource())).executeWithoutResult((status) -> {
			table.template().execute("lock table locked_tokens");
			new JdbcIdempotencyStore(new OwnTransactions(table.dataSource()), "locked_tokens").verify();
		});
		assertThat(output).contains("so the table locked_tokens could not be checked")
			.contains("locked the table locked_tokens");
	}

	private static void assertRefused(DataSource dataSource, String table) {
		assertThatExceptionOfType(IdempotentConfigurationException.class)
			.isThrownBy(() -> new JdbcIdempotencyStore(new OwnTransactions(dataSource), table).verify())
			.withMessageContaining("token")
			.withMessageContaining("64");
	}

	private static void verifyAndClaim(RecordTable table) {
		verifyAndClaim(table.dataSource(), table.name());
	}

	private static void verifyAndClaim(DataSource dataSource, String table) {
		JdbcIdempotencyStore store = new JdbcIdempotencyStore(new OwnTransactions(dataSource), table);
		store.verify();
		String token = new RunOrigin(Instant.now(), Guarantee.TRANSACTION,
				"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
			.toToken(UUID.randomUUID().toString());
		assertThat(store.claim(Samples.key(), Samples.fingerprint("request"), token, Duration.ofMinutes(1)))
			.isEqualTo(new Claim.Acquired());
	}

}
