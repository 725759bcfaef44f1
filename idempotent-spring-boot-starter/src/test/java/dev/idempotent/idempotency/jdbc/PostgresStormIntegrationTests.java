package dev.idempotent.idempotency.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.Race;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.transaction.OwnTransactions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The cost of claims on PostgreSQL that do not acquire their key.
 */
@Timeout(180)
class PostgresStormIntegrationTests {

	private static final int CLAIMANTS = 10;

	private static final int CLAIMS = 200;

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private static final Fingerprint REQUEST = Samples.fingerprint("request");

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private static JdbcTemplate observer;

	private final IdempotencyKey key = Samples.key();

	@BeforeAll
	static void connect() {
		observer = RecordTable.create(postgres.connect(), "postgresql", "storm_record").template();
	}

	@Test
	void writesNothingForClaimsOnAPendingKey() throws InterruptedException {
		HikariDataSource pool = postgres.connect(postgres.url() + "?ApplicationName=storm");
		JdbcIdempotencyStore store = new JdbcIdempotencyStore(new OwnTransactions(pool), "storm_record");
		store.claim(this.key, REQUEST, "owner", MINUTE);
		long transactions = number("select pg_snapshot_xmax(pg_current_snapshot())::text::bigint");
		long written = writtenBytes();
		List<Integer> refused = Race.of(CLAIMANTS, (runner) -> refusedClaims(store, "rival " + runner));
		assertThat(refused).allMatch((count) -> count == CLAIMS);
		// The server may write a few rows of its own.
		assertThat(number("select pg_snapshot_xmax(pg_current_snapshot())::text::bigint") - transactions)
			.isLessThan(20);
		assertThat(writtenBytes() - written).isLessThan(16 * 1024);
		pool.close();
		awaitTheStatisticsOfTheStorm();
		assertThat(observer.queryForMap(
				"select n_tup_ins, n_tup_upd, n_tup_del, n_dead_tup from pg_stat_user_tables where relname = 'storm_record'"))
			.isEqualTo(Map.of("n_tup_ins", 1L, "n_tup_upd", 0L, "n_tup_del", 0L, "n_dead_tup", 0L));
	}

	private int refusedClaims(JdbcIdempotencyStore store, String token) {
		int refused = 0;
		for (int i = 0; i < CLAIMS; i++) {
			if (store.claim(this.key, REQUEST, token, MINUTE) instanceof Claim.Pending) {
				refused++;
			}
		}
		return refused;
	}

	private static long writtenBytes() {
		return number("select (pg_current_wal_insert_lsn() - '0/0')::bigint");
	}

	private static void awaitTheStatisticsOfTheStorm() {
		await().until(() -> number("select count(*) from pg_stat_activity where application_name = 'storm'") == 0);
		await().until(() -> number("select n_tup_ins from pg_stat_user_tables where relname = 'storm_record'") == 1);
	}

	private static long number(String sql) {
		return Objects.requireNonNull(observer.queryForObject(sql, Long.class));
	}

}
