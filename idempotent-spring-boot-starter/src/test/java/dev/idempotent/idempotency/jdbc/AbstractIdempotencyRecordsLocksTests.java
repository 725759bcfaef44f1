package dev.idempotent.idempotency.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore.KeyCount;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.transaction.OwnTransactions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.PessimisticLockingFailureException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What {@link IdempotencyRecords} promise to transactions that claim the same key.
 */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class AbstractIdempotencyRecordsLocksTests {

	static final Duration MINUTE = Duration.ofMinutes(1);

	static final Fingerprint REQUEST = Samples.fingerprint("request");

	final IdempotencyKey key = Samples.key();

	Connection first;

	Connection second;

	IdempotencyRecords records;

	abstract RecordTable table();

	/**
	 * Sets the lock timeout of a connection, to a time that is too long for any test.
	 */
	abstract void waitForLocksTooLong(Connection connection) throws SQLException;

	@BeforeEach
	void beginTwoTransactions() throws SQLException {
		this.records = new IdempotencyRecords(table().name());
		this.first = begin();
		this.second = begin();
		waitForLocksTooLong(this.second);
	}

	@AfterEach
	void end() throws SQLException {
		this.first.close();
		this.second.close();
	}

	@Test
	void boundsTheWaitForAKeyThatAnotherTransactionHasInserted() {
		claim(this.first, "owner", null);
		assertThatExceptionOfType(CannotAcquireLockException.class)
			.isThrownBy(() -> claim(this.second, "rival", shortTime()));
	}

	@Test
	void boundsTheWaitForAnExpiredKeyThatAnotherTransactionHasTakenOver() throws SQLException {
		expire();
		claim(this.first, "owner", null);
		assertThatExceptionOfType(CannotAcquireLockException.class)
			.isThrownBy(() -> claim(this.second, "rival", shortTime()));
	}

	@Test
	void boundsTheWaitForACompletedKeyThatAnotherTransactionHasDeleted() throws SQLException {
		this.records.complete(this.first, this.key, REQUEST, "owner", Samples.response("response"), MINUTE);
		this.first.commit();
		assertThat(this.records.forget(this.first, this.key, "owner", shortTime())).isTrue();
		assertThat(this.records.find(this.second, this.key)).isNotNull();
		assertThatExceptionOfType(CannotAcquireLockException.class)
			.isThrownBy(() -> this.records.forget(this.second, this.key, "owner", shortTime()));
	}

	/**
	 * A run records what its retry must know while its own transaction is open.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void completesOtherKeysBesideATransactionThatHasClaimedOne(boolean expired) throws SQLException {
		if (expired) {
			expire();
		}
		claim(this.first, "owner", null);
		for (int i = 0; i < 20; i++) {
			assertThat(this.records.complete(this.second, Samples.key(), REQUEST, "owner", Samples.response("response"),
					MINUTE))
				.isTrue();
			this.second.commit();
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void completesAKeyAtOnceOrReturnsWhatHasCompletedIt(boolean unpooled) {
		claim(this.first, "owner", null);
		IdempotencyKey other = Samples.key();
		try (JdbcIdempotencyStore store = new JdbcIdempotencyStore(new OwnTransactions(table().dataSource()),
				table().name(), unpooled ? table().dataSource() : null)) {
			assertThat(complete(store, other, "one")).isInstanceOf(Claim.Acquired.class);
			assertThat(complete(store, other, "two")).is(Samples.completed(Samples.response("one")));
			assertThat(complete(store, other, "one")).isInstanceOf(Claim.Acquired.class);
			assertThat(complete(store, other, "two")).is(Samples.completed(Samples.response("one")));
			assertThat(complete(store, Samples.key(), "two")).isInstanceOf(Claim.Acquired.class);
		}
	}

	private static Claim complete(JdbcIdempotencyStore store, IdempotencyKey key, String token) {
		return store.completeAtOnce(key, REQUEST, token, Samples.response(token), MINUTE);
	}

	@Test
	void countsUnexpiredKeysUpToALimit() throws SQLException {
		expire();
		KeyCount before = this.records.count(this.first, 1000);
		this.records.claim(this.first, Samples.key(), REQUEST, "owner", null, MINUTE, null);
		this.records.claim(this.first, Samples.key(), REQUEST, "owner", null, MINUTE, null);
		this.records.complete(this.first, Samples.key(), REQUEST, "owner", Samples.response("response"), MINUTE);
		assertThat(this.records.count(this.first, 1000))
			.isEqualTo(new KeyCount(before.pending() + 2, before.completed() + 1, true));
		assertThat(this.records.count(this.second, 1000)).isEqualTo(before);
		KeyCount limited = this.records.count(this.first, 2);
		assertThat(limited.exact()).isFalse();
		assertThat(limited.pending() + limited.completed()).isEqualTo(3);
	}

	@Test
	void grantsAKeyAfterARollbackOfItsTransaction() throws Exception {
		claim(this.first, "owner", null);
		CompletableFuture<Claim> rival = CompletableFuture.supplyAsync(() -> claim(this.second, "rival", MINUTE));
		awaitAWaitingTransaction();
		this.first.rollback();
		assertThat(rival.get(60, TimeUnit.SECONDS)).isEqualTo(new Claim.Acquired());
		this.second.commit();
		assertThat(this.records.find(this.first, this.key, REQUEST)).isInstanceOf(Claim.Pending.class);
	}

	@Test
	void returnsTheStateThatAnotherTransactionHasCommitted() throws Exception {
		claim(this.first, "owner", null);
		CompletableFuture<Claim> rival = CompletableFuture.supplyAsync(() -> claim(this.second, "rival", MINUTE));
		awaitAWaitingTransaction();
		this.records.complete(this.first, this.key, REQUEST, "owner", Samples.response("response"), MINUTE);
		this.first.commit();
		assertThat(rival.get(60, TimeUnit.SECONDS)).is(Samples.completed(Samples.response("response")));
	}

	@Test
	void joinsTheTransactionOfItsConnection() throws SQLException {
		claim(this.first, "owner", shortTime());
		assertThat(this.records.find(this.second, this.key, REQUEST)).isNull();
		this.first.rollback();
		assertThat(claim(this.second, "rival", shortTime())).isEqualTo(new Claim.Acquired());
	}

	@Test
	void doesNotCompleteARecordThatItsTransactionHasLost() throws SQLException {
		Savepoint before = this.first.setSavepoint();
		claim(this.first, "owner", shortTime());
		assertThat(completeOwn()).isTrue();
		this.first.rollback(before);
		assertThat(completeOwn()).isFalse();
		this.first.rollback();
		claim(this.first, "rival", shortTime());
		assertThat(completeOwn()).isFalse();
	}

	private boolean completeOwn() {
		return this.records.completeOwn(this.first, this.key, REQUEST, "owner", Samples.response("response"), MINUTE);
	}

	@Test
	void reportsADeadlock() throws Exception {
		IdempotencyKey other = Samples.key();
		claim(this.first, "owner", null);
		this.records.claim(this.second, other, REQUEST, "rival", null, MINUTE, null);
		CompletableFuture<Optional<Exception>> rival = failure(this.second, () -> claim(this.second, "rival", null));
		awaitAWaitingTransaction();
		CompletableFuture<Optional<Exception>> owner = failure(this.first,
				() -> this.records.claim(this.first, other, REQUEST, "owner", null, MINUTE, null));
		assertThat(Stream.of(owner, rival).map(CompletableFuture::join).flatMap(Optional::stream)).isNotEmpty()
			.allSatisfy((failure) -> assertThat(failure).isInstanceOf(PessimisticLockingFailureException.class));
	}

	private static CompletableFuture<Optional<Exception>> failure(Connection connection, Callable<Claim> claim) {
		return CompletableFuture.supplyAsync(() -> {
			try (connection) {
				claim.call();
				return Optional.empty();
			}
			catch (Exception ex) {
				return Optional.of(ex);
			}
		});
	}

	/**
	 * Claims an expired key in a transaction that is older than the key.
	 */
	Claim claimInAnOldTransaction() throws SQLException {
		this.records.find(this.second, Samples.key(), REQUEST);
		expire();
		return claim(this.second, "owner", shortTime());
	}

	/**
	 * Waits until one transaction waits for the other.
	 */
	abstract void awaitAWaitingTransaction() throws SQLException;

	Duration shortTime() {
		return Duration.ofMillis(100);
	}

	Claim claim(Connection connection, String token, @Nullable Duration lockTimeout) {
		return this.records.claim(connection, this.key, REQUEST, token, null, MINUTE, lockTimeout);
	}

	Connection begin() throws SQLException {
		Connection connection = table().dataSource().getConnection();
		connection.setAutoCommit(false);
		return connection;
	}

	void expire() throws SQLException {
		this.records.claim(this.first, this.key, REQUEST, "gone", null, Duration.ofMillis(1), null);
		this.first.commit();
		await().until(() -> {
			boolean expired = this.records.find(this.first, this.key, REQUEST) == null;
			// H2 shows a transaction one time only.
			this.first.commit();
			return expired;
		});
	}

}
