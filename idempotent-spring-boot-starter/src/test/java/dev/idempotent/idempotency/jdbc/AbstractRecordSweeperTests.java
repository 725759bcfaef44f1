package dev.idempotent.idempotency.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.jdbc.JdbcIdempotencyStore.Sweepers;
import dev.idempotent.jdbc.TableSweeper;
import dev.idempotent.testing.ConcurrentRuns;
import dev.idempotent.transaction.OwnTransactions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What {@link TableSweeper} promises on every database.
 */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class AbstractRecordSweeperTests {

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private static final Fingerprint REQUEST = Samples.fingerprint("request");

	private final IdempotencyKey key = Samples.key();

	private JdbcIdempotencyStore store;

	private TableSweeper sweeper;

	abstract RecordTable table();

	@BeforeEach
	void emptyTheTable() {
		table().template().update("delete from " + table().name());
		this.store = new JdbcIdempotencyStore(new OwnTransactions(table().dataSource()), table().name());
		this.sweeper = sweeper(MINUTE);
	}

	@Test
	void deletesOnlyExpiredKeys() {
		table().expire(3);
		this.store.claim(this.key, REQUEST, "owner", MINUTE);
		this.store.complete(Samples.key(), REQUEST, "owner", Samples.response("response"), MINUTE);
		assertThat(this.sweeper.sweep()).isEqualTo(3);
		assertThat(table().rows()).isEqualTo(2);
		assertThat(this.store.claim(this.key, REQUEST, "rival", MINUTE)).isInstanceOf(Claim.Pending.class);
		assertThat(this.sweeper.sweep()).isZero();
	}

	@Test
	void deletesEveryRowOnceOnManyInstances() throws InterruptedException {
		table().expire(4_500);
		List<Integer> swept = ConcurrentRuns.of(6, (runner) -> sweeper(MINUTE).sweep());
		int rest = this.sweeper.sweep();
		assertThat(swept.stream().mapToInt(Integer::intValue).sum() + rest).isEqualTo(4_500);
		assertThat(table().rows()).isZero();
	}

	@Test
	void skipsAKeyThatATransactionIsTakingOver() throws SQLException {
		List<IdempotencyKey> expired = table().expire(2);
		try (Connection transaction = table().dataSource().getConnection()) {
			transaction.setAutoCommit(false);
			Claim claim = new IdempotencyRecords(table().name()).claim(transaction, expired.get(0), REQUEST, "owner",
					null, MINUTE, null);
			assertThat(claim).isEqualTo(new Claim.Acquired());
			assertThat(this.sweeper.sweep()).isEqualTo(1);
			transaction.commit();
		}
		assertThat(this.sweeper.sweep()).isZero();
		assertThat(this.store.renew(expired.get(0), "owner", MINUTE)).isTrue();
	}

	@Test
	void neverDeletesAKeyThatWasTakenOver() throws InterruptedException {
		for (int i = 0; i < 20; i++) {
			List<IdempotencyKey> keys = table().expire(20);
			ConcurrentRuns.of(3, (runner) -> {
				if (runner == 0) {
					return this.sweeper.sweep();
				}
				IntStream.range(0, keys.size())
					.filter((number) -> number % 2 == runner - 1)
					.forEach((number) -> assertThat(this.store.claim(keys.get(number), REQUEST, "owner", MINUTE))
						.isEqualTo(new Claim.Acquired()));
				return 0;
			});
			assertThat(keys).allSatisfy((taken) -> assertThat(this.store.renew(taken, "owner", MINUTE)).isTrue());
		}
	}

	@Test
	void grantsEachExpiredKeyToOneOfManyClaimants() throws InterruptedException {
		for (IdempotencyKey expired : table().expire(30)) {
			List<Claim> claims = ConcurrentRuns.of(8,
					(runner) -> this.store.claim(expired, REQUEST, "token " + runner, MINUTE));
			assertThat(claims).filteredOn(Claim.Acquired.class::isInstance).hasSize(1);
			assertThat(claims).filteredOn(Claim.Pending.class::isInstance).hasSize(7);
		}
	}

	@Test
	void sweepsAtAnIntervalOnceStarted() {
		try (TableSweeper running = sweeper(Duration.ofMillis(10))) {
			running.start();
			running.start();
			for (int i = 0; i < 3; i++) {
				table().expire(1);
				await().until(() -> table().rows() == 0);
			}
		}
	}

	private TableSweeper sweeper(Duration interval) {
		return Sweepers.sweeper(new OwnTransactions(table().dataSource()), table().name(), interval);
	}

}
