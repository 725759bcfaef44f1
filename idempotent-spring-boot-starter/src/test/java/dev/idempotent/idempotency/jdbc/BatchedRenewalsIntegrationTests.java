package dev.idempotent.idempotency.jdbc;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyStore.Renewal;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.transaction.OwnTransactions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Renewals of many keys, and second connections, with a pool of one connection.
 */
@Timeout(180)
class BatchedRenewalsIntegrationTests {

	private static final Duration MINUTE = Duration.ofMinutes(1);

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private final List<Renewal> held = Stream.generate(() -> new Renewal(Samples.key(), "owner", MINUTE))
		.limit(50)
		.toList();

	private HikariDataSource pool;

	private JdbcIdempotencyStore store;

	@BeforeEach
	void claimSomeKeys() {
		this.pool = postgres.connect();
		this.pool.setMaximumPoolSize(1);
		this.pool.setConnectionTimeout(60_000);
		RecordTable table = RecordTable.create(this.pool, "postgresql", "renewals_record");
		DriverManagerDataSource unpooled = new DriverManagerDataSource(postgres.url() + "?ApplicationName=renewals",
				RealPostgres.USER, RealPostgres.PASSWORD);
		this.store = new JdbcIdempotencyStore(new OwnTransactions(this.pool), table.name(), unpooled);
		this.held.forEach((one) -> this.store.claim(one.key(), Samples.fingerprint("request"), "owner", MINUTE));
	}

	@AfterEach
	void close() {
		this.store.close();
		this.pool.close();
	}

	@Test
	void renewWithAnExhaustedPool() throws Exception {
		try (Connection last = this.pool.getConnection()) {
			assertThat(this.store.renewAll(this.held)).containsExactlyInAnyOrderElementsOf(this.held);
			assertThat(last.isValid(5)).isTrue();
		}
	}

	@Test
	void renewOnANewConnectionAfterALostOne() {
		this.store.renewAll(this.held);
		assertThat(new JdbcTemplate(this.pool)
			.queryForList("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'renewals'"))
			.hasSize(1);
		assertThat(this.store.renewAll(this.held)).hasSize(50);
	}

	@Test
	void renewTheOtherKeysWhileATransactionLocksOne() throws Exception {
		try (Connection other = DriverManager.getConnection(postgres.url(), RealPostgres.USER, RealPostgres.PASSWORD)) {
			other.setAutoCommit(false);
			try (PreparedStatement lock = other
				.prepareStatement("select 1 from renewals_record where key_digest = ? for update")) {
				lock.setString(1, this.held.get(7).key().digest());
				assertThat(lock.executeQuery().next()).isTrue();
			}
			assertThat(this.store.renewAll(this.held)).hasSize(49).doesNotContain(this.held.get(7));
			other.rollback();
		}
		assertThat(this.store.renewAll(this.held)).hasSize(50);
	}

	@Test
	void omitKeysThatAreNoLongerHeld() {
		this.store.release(this.held.get(7).key(), "owner");
		assertThat(this.store.renewAll(this.held)).hasSize(49).doesNotContain(this.held.get(7));
	}

	@Test
	void rejectASecondConnectionLongBeforeThePoolTimesOut() {
		new TransactionTemplate(new DataSourceTransactionManager(this.pool)).executeWithoutResult((status) -> {
			long start = System.nanoTime();
			assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
				.isThrownBy(() -> this.store.claim(Samples.key(), Samples.fingerprint("request"), "owner", MINUTE))
				.havingRootCause()
				.isNotNull();
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
		});
		// The connection that came too late has been returned.
		assertThat(this.store.claim(Samples.key(), Samples.fingerprint("request"), "owner", MINUTE))
			.isEqualTo(new Claim.Acquired());
		assertThat(CompletableFuture.supplyAsync(() -> this.store.release(Samples.key(), "owner")).join()).isTrue();
	}

}
