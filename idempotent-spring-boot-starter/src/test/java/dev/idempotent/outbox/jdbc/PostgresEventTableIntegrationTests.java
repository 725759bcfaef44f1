package dev.idempotent.outbox.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import dev.idempotent.outbox.OutboxSamples;
import dev.idempotent.outbox.jdbc.ClaimedEvent.LockedRows;
import dev.idempotent.outbox.jdbc.EventTable.Failure;
import dev.idempotent.outbox.jdbc.EventTable.Row;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.transaction.TransactionException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link EventTable} on PostgreSQL.
 */
class PostgresEventTableIntegrationTests extends AbstractEventTableTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private static Fixture fixture;

	@BeforeAll
	static void connect() {
		fixture = Fixture.create(postgres.connect(), "postgresql", "table_outbox_");
	}

	@Override
	Fixture fixture() {
		return fixture;
	}

	/**
	 * Large rows are read after they were claimed.
	 */
	@Test
	void claimsNoLargeRowOfAnotherThatHasTheIdOfItsOwn() {
		append(unordered("one"),
				new NewEvent(OutboxSamples.event(TOPIC, "large", "two", new byte[1_000_000], Map.of()), true, null));
		template().update("update " + events() + " set id = 1");
		List<QueuedEvent> read = heads();
		claim(read.subList(0, 1));
		assertThat(claim(read)).extracting(ClaimedEvent::lane).containsExactly(read.get(1).lane());
	}

	/**
	 * So that it need not be read again.
	 */
	@Test
	void findsAnEventWithoutAKeyAsItIsClaimed() {
		append(new NewEvent(event(null, "alone"), false, null));
		QueuedEvent found = alone();
		assertThat(found).usingRecursiveComparison().ignoringFields("epoch").isEqualTo(heads().get(0));
		ClaimedEvent claim = claim(List.of(found)).get(0);
		endLeases();
		assertThat(alone()).extracting(QueuedEvent::attempts, QueuedEvent::interrupted).containsExactly(1, true);
		table().postpone(failures(List.of(claim), "broken"));
		endLeases();
		assertThat(claim(List.of(alone()))).extracting((again) -> again.event().attempts()).containsExactly(2);
	}

	@Test
	void findsNoEventWithAKeyAsIfItWereAlone() {
		append(ordered("key", "ordered"));
		assertThat(table().scan(Long.MIN_VALUE, 10).due()).extracting(Row::alone).containsOnlyNulls();
	}

	private QueuedEvent alone() {
		return Objects.requireNonNull(table().scan(Long.MIN_VALUE, 10).due().get(0).alone());
	}

	/**
	 * As the transaction of a host does that has crashed.
	 */
	@Test
	@Timeout(value = 60, threadMode = ThreadMode.SEPARATE_THREAD)
	void freesAnEventIfTheTransactionOfItsHandlerFallsSilent() {
		append("one");
		ClaimedEvent claim = claim().get(0);
		assertThatExceptionOfType(TransactionException.class).isThrownBy(() -> inTransaction(() -> {
			assertThat(table().lockInTransaction(claim, Duration.ofMillis(200))).isNotNull();
			// The lock would be waited for, and the row be gone after a commit.
			return CompletableFuture
				.supplyAsync(() -> template().queryForList("select id from " + events() + " for update"))
				.thenAccept((rows) -> assertThat(rows).hasSize(1))
				.join();
		}));
		assertThat(template().queryForList("select id from " + events())).hasSize(1);
	}

	@Test
	void limitsTheWaitsOfATransaction() {
		append("one");
		ClaimedEvent claim = claim().get(0);
		inTransaction(() -> {
			assertThat(table().lockInTransaction(claim, Duration.ofSeconds(5))).isNotNull();
			return assertThat(template().queryForObject("select current_setting('lock_timeout')", String.class))
				.isEqualTo("5s");
		});
	}

	@Test
	void deletesARowThatItHasLockedWithoutAClaim() {
		assertThat(table().showsLocks()).isTrue();
		append(new NewEvent(event("key", "one"), true, null));
		QueuedEvent head = heads().get(0);
		inTransaction(() -> {
			LockedRows lock = locked(head);
			assertThat(lock.claims().get(0).event()).satisfies((event) -> {
				assertThat(event.type()).isEqualTo("one");
				assertThat(event.key()).isEqualTo("key");
				assertThat(event.payload()).asString().isEqualTo("one");
				assertThat(event.storedHeaders()).containsEntry("of", "one");
				assertThat(event.sequence()).isEqualTo(head.id());
				assertThat(event.attempts()).isOne();
			});
			assertThat(lock.claims().get(0).counted()).isFalse();
			assertThat(other(() -> claim(List.of(head)))).isEmpty();
			assertThat(other(() -> inTransaction(() -> lock(head)))).isEmpty();
			assertThat(template().queryForList("select attempts from " + events(), Integer.class)).containsExactly(0);
			assertThat(table().deleteInTransaction(lock)).isTrue();
			return assertThat(table().canCommit(lock.evidence(), false)).isTrue();
		});
		assertThat(heads()).isEmpty();
		assertThat(inTransaction(() -> lock(head))).isEmpty();
	}

	/**
	 * So an attempt that was not counted is one at most.
	 */
	@Test
	void locksNoRowWithoutAClaimAgainWhoseTransactionHasNotCommitted() {
		assertThat(table().showsLocks()).isTrue();
		append(handled("one"));
		QueuedEvent head = heads().get(0);
		assertThat(head.isNew()).isTrue();
		assertThatExceptionOfType(TransactionException.class).isThrownBy(() -> inTransaction(() -> {
			assertThat(lock(head)).isPresent();
			endSession();
			return true;
		}));
		assertThat(inTransaction(() -> lock(head))).isEmpty();
		assertThat(heads()).extracting(QueuedEvent::attempts, QueuedEvent::due, QueuedEvent::traced)
			.containsExactly(tuple(0, true, true));
		assertThat(alone().isNew()).isFalse();
		assertThat(alone().traced()).isTrue();
		assertThat(claim(heads())).extracting((claim) -> claim.event().attempts()).containsExactly(1);
	}

	/**
	 * Which is another version of the row, without the trace of a lock.
	 */
	@Test
	void locksNoRowWithoutAClaimWhoseAttemptWasTakenBack() {
		assertThat(table().showsLocks()).isTrue();
		append(handled("one"));
		assertThat(table().release(claim())).isOne();
		assertThat(heads())
			.extracting(QueuedEvent::attempts, QueuedEvent::due, QueuedEvent::interrupted, QueuedEvent::isNew)
			.containsExactly(tuple(0, true, false, false));
		assertThat(alone().isNew()).isFalse();
		assertThat(alone().traced()).isFalse();
		assertThat(inTransaction(() -> lock(heads().get(0)))).isEmpty();
		table().postpone(List.of(new Failure(claim().get(0), "not counted", Duration.ZERO, false)));
		assertThat(heads()).extracting(QueuedEvent::attempts, QueuedEvent::interrupted, QueuedEvent::isNew)
			.containsExactly(tuple(0, false, false));
		assertThat(inTransaction(() -> lock(heads().get(0)))).isEmpty();
	}

	/**
	 * So nothing of an event can end the process of its claim again and again.
	 */
	@Test
	void countsTheHeadersAndLeavesThemOutBehindTheLastAttempt() {
		append(new NewEvent(
				OutboxSamples.event("handlers:book", null, "one", new byte[10], Map.of("note", "x".repeat(2_000_000))),
				false, null));
		assertThat(heads()).singleElement().satisfies((head) -> assertThat(head.bytes()).isGreaterThan(2_000_000));
		assertThat(alone().bytes()).isEqualTo(heads().get(0).bytes());
		List<ClaimedEvent> exhausted = table().claim(heads(), LEASE, 0);
		assertThat(exhausted.get(0).event().storedHeaders()).doesNotContainKey("note");
		table().release(exhausted);
		assertThat(claim().get(0).event().storedHeaders()).containsKey("note");
	}

	/**
	 * As if code of a handler had changed the search path.
	 */
	@Test
	void deletesNoRowOfAnotherSchema() {
		assertThat(table().showsLocks()).isTrue();
		append(handled("one"));
		QueuedEvent head = heads().get(0);
		template().execute("drop schema if exists other cascade");
		template().execute("create schema other");
		template().execute("create table other." + events() + " (like " + events() + " including all)");
		template().execute("insert into other." + events() + " select * from " + events());
		inTransaction(() -> {
			LockedRows lock = locked(head);
			template().execute("set local search_path = other");
			assertThat(table().deleteInTransaction(lock)).isFalse();
			template().execute("set local search_path = default");
			return assertThat(table().deleteInTransaction(lock)).isTrue();
		});
		assertThat(template().queryForObject("select count(*) from other." + events(), Integer.class)).isOne();
	}

	@Test
	@Timeout(value = 60, threadMode = ThreadMode.SEPARATE_THREAD)
	void waitsForNoRowThatAnOperatorHasLocked() {
		append("one");
		append("two");
		List<ClaimedEvent> claims = claim();
		assertThat(claims).hasSize(2);
		inTransaction(() -> {
			template().queryForList("select id from " + events() + " for update");
			assertThat(other(
					() -> inTransaction(() -> Optional.ofNullable(table().lockInTransaction(claims.get(0), LEASE)))))
				.isEmpty();
			assertThat(other(() -> inTransaction(() -> Optional.ofNullable(table().lockInTransaction(claims, LEASE)))))
				.isEmpty();
			CompletableFuture<Integer> deleted = CompletableFuture.supplyAsync(() -> table().delete(claims));
			CompletableFuture<Integer> postponed = CompletableFuture
				.supplyAsync(() -> table().postpone(failures(claims, "broken")));
			return assertThat(List.of(deleted, postponed))
				.allSatisfy((settlement) -> assertThat(settlement).failsWithin(Duration.ofSeconds(50))
					.withThrowableThat()
					.withCauseInstanceOf(PessimisticLockingFailureException.class));
		});
		assertThat(table().delete(claims)).isEqualTo(2);
	}

	@Test
	void locksNoRowWithoutAClaimThatIsNotAsItWasRead() {
		assertThat(table().showsLocks()).isTrue();
		append(handled("claimed"));
		QueuedEvent head = heads().get(0);
		QueuedEvent other = new QueuedEvent(head.lane(), head.id(), 0, "handlers:other", null, 0, true, false, true,
				false, null);
		assertThat(inTransaction(() -> lock(other))).isEmpty();
		List<ClaimedEvent> claims = claim(List.of(head));
		assertThat(inTransaction(() -> lock(head))).isEmpty();
		table().postpone(List.of(new Failure(claims.get(0), "not counted", LEASE, false)));
		assertThat(heads()).extracting(QueuedEvent::attempts, QueuedEvent::due).containsExactly(tuple(0, false));
		assertThat(inTransaction(() -> lock(head))).isEmpty();
		template().update("delete from " + events());
		assertThat(inTransaction(() -> lock(head))).isEmpty();
	}

	/**
	 * It sees the row as it was before.
	 */
	@Test
	void locksNoClaimedRowInATransactionAtRepeatableRead() {
		assertThat(table().showsLocks()).isTrue();
		append(handled("one"));
		QueuedEvent head = heads().get(0);
		inTransaction(() -> {
			template().execute("set transaction isolation level repeatable read");
			assertThat(template().queryForObject("select count(*) from " + events(), Integer.class)).isOne();
			assertThat(other(() -> claim(List.of(head)))).hasSize(1);
			return assertThat(lock(head)).isEmpty();
		});
		assertThat(heads()).extracting(QueuedEvent::attempts).containsExactly(1);
	}

	private static NewEvent handled(String type) {
		return new NewEvent(OutboxSamples.event("handlers:book", null, type, new byte[0], Map.of()), false, null);
	}

	private Optional<LockedRows> lock(QueuedEvent head) {
		return Optional.ofNullable(table().lockUnclaimed(head, Duration.ofMinutes(1)));
	}

	private LockedRows locked(QueuedEvent head) {
		return lock(head).orElseThrow();
	}

	/**
	 * As if the process of the calling thread had died.
	 */
	private void endSession() {
		Integer session = template().queryForObject("select pg_backend_pid()", Integer.class);
		other(() -> template().queryForList("select pg_terminate_backend(?)", Boolean.class, session));
		await().until(() -> other(
				() -> template().queryForList("select pid from pg_stat_activity where pid = ?", Integer.class, session))
			.isEmpty());
	}

	/**
	 * Runs work beside the transaction of the calling thread.
	 */
	private static <T> T other(Supplier<T> work) {
		return CompletableFuture.supplyAsync(work).orTimeout(30, TimeUnit.SECONDS).join();
	}

}
