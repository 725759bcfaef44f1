package dev.idempotent.outbox.jdbc;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.encryption.AesGcmPayloadCipher;
import dev.idempotent.encryption.PayloadCipher;
import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.jdbc.Database;
import dev.idempotent.outbox.EventFilter;
import dev.idempotent.outbox.OutboxSamples;
import dev.idempotent.outbox.OutboxSamples.EventFacts;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.jdbc.ClaimedEvent.LockedRows;
import dev.idempotent.outbox.jdbc.EventTable.Chunk;
import dev.idempotent.outbox.jdbc.EventTable.Failure;
import dev.idempotent.outbox.jdbc.EventTable.Row;
import dev.idempotent.testing.ConcurrentRuns;
import dev.idempotent.transaction.OwnTransactions;
import dev.idempotent.transaction.TransactionGuard;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

/**
 * What {@link EventTable} promises on each database.
 */
abstract class AbstractEventTableTests extends EventTableSteps {

	@Test
	void appendsEventsOfAKeyToOneLaneInTheirOrder() {
		List<Row> rows = append(ordered("one", "1"), ordered("two", "2"), ordered("one", "3"));
		assertThat(rows).extracting(Row::lane)
			.containsExactly(LaneHash.of(TOPIC, "one"), LaneHash.of(TOPIC, "two"), LaneHash.of(TOPIC, "one"));
		assertThat(rows).extracting(Row::id).isSorted().doesNotHaveDuplicates();
		assertThat(rows).extracting(Row::topic).containsOnly(TOPIC);
		assertThat(table().heads(List.of(new LaneQuery(LaneHash.of(TOPIC, "one"), 0)), 10)).extracting(QueuedEvent::id)
			.containsExactly(rows.get(0).id(), rows.get(2).id());
	}

	@Test
	void appendsEventsWithoutAnOrderToLanesOfTheirOwn() {
		List<Row> rows = append("one", "two", "three");
		assertThat(rows).extracting(Row::lane).doesNotHaveDuplicates().doesNotContain(LaneHash.of(TOPIC, "key of one"));
		assertThat(types(claim())).containsExactlyInAnyOrder("one", "two", "three");
	}

	@Test
	void appendsMoreEventsThanFitIntoOneStatementInTheirOrder() {
		NewEvent[] events = IntStream.range(0, 1200)
			.mapToObj((i) -> ordered("key", "event " + i))
			.toArray(NewEvent[]::new);
		List<Row> rows = append(events);
		List<ClaimedEvent> claims = claim(heads(5000));
		assertThat(claims).extracting((claim) -> claim.event().id())
			.containsExactly(List.of(events).stream().map((event) -> event.event().id()).toArray(UUID[]::new));
		assertThat(claims).extracting(ClaimedEvent::id).containsExactlyElementsOf(rows.stream().map(Row::id).toList());
		assertThat(table().delete(claims)).isEqualTo(1200);
		assertThat(heads()).isEmpty();
	}

	@Test
	void hidesAnEventUntilItsTransactionCommits() {
		Row row = inTransaction(() -> {
			Row open = table().append(List.of(ordered("key", "one"))).get(0);
			assertThat(table().heads(List.of(new LaneQuery(open.lane(), 0)), 1)).isEmpty();
			assertThat(table().scan(Long.MIN_VALUE, 100).due()).isEmpty();
			return open;
		});
		assertThat(table().scan(Long.MIN_VALUE, 100).due()).containsExactly(row);
	}

	@Test
	void commitsIndependentlyBehindAProxyThatJoinsTransactions() {
		EventTable proxied = new EventTable(
				new OwnTransactions(new TransactionAwareDataSourceProxy(fixture().dataSource())),
				fixture().tables().prefix(), PayloadEncryption.NONE);
		assertThat(proxied.transactionResource()).isSameAs(fixture().dataSource());
		inTransaction(() -> {
			proxied.append(List.of(unordered("one")));
			assertThat(proxied.scan(Long.MIN_VALUE, 100).due()).isEmpty();
			return true;
		});
		assertThat(types(claim())).containsExactly("one");
	}

	@Test
	void readsTheFirstRowsOfLanes() {
		List<Row> rows = append(ordered("one", "1"), ordered("one", "2"), ordered("one", "3"), ordered("two", "4"));
		assertThat(heads(2)).extracting(QueuedEvent::id)
			.containsExactlyInAnyOrder(rows.get(0).id(), rows.get(1).id(), rows.get(3).id());
		assertThat(heads(2))
			.isSortedAccordingTo(Comparator.comparingLong(QueuedEvent::lane).thenComparingLong(QueuedEvent::id));
		LaneQuery behind = new LaneQuery(rows.get(0).lane(), rows.get(0).id());
		assertThat(table().heads(List.of(behind), 1))
			.usingRecursiveFieldByFieldElementComparatorIgnoringFields("epoch", "bytes", "isNew")
			.containsExactly(new QueuedEvent(rows.get(0).lane(), rows.get(1).id(), 0, TOPIC, "one", 1, true, false,
					false, false, null));
	}

	@Test
	void readsManyLanes() {
		append(IntStream.range(0, 130).mapToObj((i) -> "event " + i).toArray(String[]::new));
		List<ClaimedEvent> claims = claim();
		assertThat(claims).hasSize(130);
		assertThat(table().delete(claims)).isEqualTo(130);
	}

	@Test
	void claimsARowUntilItsLeaseEnds() {
		append("one");
		assertThat(claim()).extracting((claim) -> claim.event().attempts()).containsExactly(1);
		assertThat(heads()).extracting(QueuedEvent::due, QueuedEvent::attempts, QueuedEvent::interrupted)
			.containsExactly(tuple(false, 1, true));
		assertThat(claim()).isEmpty();
		endLeases();
		assertThat(heads()).extracting(QueuedEvent::due, QueuedEvent::attempts, QueuedEvent::interrupted)
			.containsExactly(tuple(true, 1, true));
		assertThat(claim()).extracting((claim) -> claim.event().attempts()).containsExactly(2);
	}

	@Test
	void deletesALockedRowInTheTransactionOfTheCaller() {
		append("one");
		ClaimedEvent overtaken = claimOver().get(0);
		ClaimedEvent claim = claim().get(0);
		assertThat(inTransaction(() -> Optional.ofNullable(table().lockInTransaction(overtaken, LEASE)))).isEmpty();
		assertThatIllegalStateException().isThrownBy(() -> inTransaction(() -> {
			assertThat(table().deleteInTransaction(claim, lock(claim))).isTrue();
			throw new IllegalStateException("rolled back");
		}));
		assertThat(heads()).hasSize(1);
		inTransaction(() -> {
			Object lock = lock(claim);
			assertThat(table().isInTransaction()).isTrue();
			assertThat(table().deleteInTransaction(overtaken, lock)).isFalse();
			assertThat(table().deleteInTransaction(claim, lock)).isTrue();
			return assertThat(table().canCommit(lock, false)).isTrue();
		});
		assertThat(heads()).isEmpty();
		assertThat(table().isInTransaction()).isFalse();
	}

	@Test
	void deletesTheLockedRowsOfABatchInTheTransactionOfTheCaller() {
		append("one", "two", "three");
		List<ClaimedEvent> claims = claimOver();
		ClaimedEvent overtaking = table().claim(heads().subList(0, 1), LEASE, 10).get(0);
		List<ClaimedEvent> rest = claims.stream().filter((claim) -> !claim.place().equals(overtaking.place())).toList();
		assertThatIllegalStateException().isThrownBy(() -> inTransaction(() -> {
			assertThat(table().deleteInTransaction(lock(claims))).isTrue();
			throw new IllegalStateException("rolled back");
		}));
		assertThat(heads()).hasSize(3);
		inTransaction(() -> {
			LockedRows lock = lock(claims);
			assertThat(lock.claims()).containsExactlyElementsOf(rest);
			assertThat(table().deleteInTransaction(lock)).isTrue();
			return assertThat(table().canCommit(lock.evidence(), false)).isTrue();
		});
		assertThat(heads()).extracting(QueuedEvent::place).containsExactly(overtaking.place());
		assertThat(inTransaction(() -> Optional.ofNullable(table().lockInTransaction(claims, LEASE)))).isEmpty();
	}

	@Test
	void deletesNoRowOfABatchInATransactionThatHasNotLockedIt() {
		append("one", "two");
		List<ClaimedEvent> claims = claim();
		inTransaction(() -> {
			LockedRows lock = lock(claims);
			TransactionGuard.join(fixture().dataSource(), AbstractEventTableTests::rollBack);
			return assertThat(table().deleteInTransaction(lock)).isFalse();
		});
		assertThat(heads()).hasSize(2);
	}

	private LockedRows lock(List<ClaimedEvent> claims) {
		return Objects.requireNonNull(table().lockInTransaction(claims, Duration.ofMinutes(1)));
	}

	private Object lock(ClaimedEvent claim) {
		return Objects.requireNonNull(table().lockInTransaction(claim, Duration.ofMinutes(1)));
	}

	/**
	 * Another instance may have read the row before it was claimed.
	 */
	@Test
	void doesNotWaitForTheHandlerOfARow() {
		append(new NewEvent(OutboxSamples.event("handlers:book", null, "one", new byte[0], Map.of()), false, null));
		List<QueuedEvent> read = heads();
		ClaimedEvent claim = claim().get(0);
		inTransaction(() -> {
			assertThat(lock(claim)).isNotNull();
			return assertThat(CompletableFuture.supplyAsync(() -> claim(read))).succeedsWithin(Duration.ofSeconds(30))
				.isEqualTo(List.of());
		});
	}

	@Test
	void knowsWhetherATransactionThatHasLockedARowWasCommitted() {
		append("one");
		ClaimedEvent claim = claim().get(0);
		List<Object> locks = new ArrayList<>();
		assertThatIllegalStateException().isThrownBy(() -> inTransaction(() -> {
			locks.add(lock(claim));
			throw new IllegalStateException("rolled back");
		}));
		assertThat(table().isCommitted(locks.get(0))).isFalse();
		assertThat(table().isCommitted(inTransaction(() -> lock(claim)))).isTrue();
		assertThat(heads()).singleElement()
			.satisfies((head) -> assertThat(head.id()).isEqualTo(claim.event().sequence()));
	}

	/**
	 * To break a deadlock, or by the work itself.
	 */
	@Test
	void deletesNoRowInATransactionThatHasNotLockedIt() {
		append("one");
		ClaimedEvent claim = claim().get(0);
		inTransaction(() -> {
			Object lock = lock(claim);
			TransactionGuard.join(fixture().dataSource(), AbstractEventTableTests::rollBack);
			return assertThat(table().deleteInTransaction(claim, lock)).isFalse();
		});
		assertThat(heads()).hasSize(1);
	}

	private static boolean rollBack(Connection connection) {
		try {
			connection.rollback();
			return true;
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void claimsNothingThatAnotherHasClaimedSinceItWasRead() {
		append("one", "two");
		List<QueuedEvent> read = heads();
		claim(read.subList(0, 1));
		assertThat(claim(read)).extracting(ClaimedEvent::id).containsExactly(read.get(1).id());
		endLeases();
		assertThat(claim(read)).isEmpty();
	}

	@Test
	void claimsAnEventWithAllItsAttributes() {
		SerializedEvent event = OutboxSamples.event(TOPIC, "k\u00E4\uD83D\uDE00 '\"\\%_?;--\t", "type of\u2028 it",
				new byte[] { 0, 39, 34, 92, -1 }, Map.of("a", "b\u0000", "", "x".repeat(100_000)));
		Row row = append(new NewEvent(event, true, null)).get(0);
		ClaimedEvent claim = claim().get(0);
		assertThat(EventFacts.of(claim.event())).isEqualTo(EventFacts.of(event, 1));
		assertThat(claim.event().sequence()).isEqualTo(row.id());
		assertThat(claim.lane()).isEqualTo(row.lane());
		assertThat(claim.undeliverable()).isNull();
	}

	@Test
	void claimsLargePayloads() {
		byte[] payload = new byte[3_000_000];
		payload[1] = 7;
		append(new NewEvent(OutboxSamples.event(TOPIC, "large", "large", payload, Map.of()), true, null),
				unordered("small"));
		assertThat(heads().stream().map(QueuedEvent::bytes).sorted()).satisfiesExactly(
				(bytes) -> assertThat(bytes).isBetween(5L, 100L),
				(bytes) -> assertThat(bytes).isBetween(3_000_000L, 3_000_100L));
		assertThat(claim()).filteredOn((claim) -> claim.event().type().equals("large"))
			.singleElement()
			.satisfies((claim) -> assertThat(claim.event().payload()).isEqualTo(payload));
	}

	@Test
	void omitsThePayloadOfAnEventWhoseAttemptsAreUsedUp() {
		append("huge");
		for (int attempt = 1; attempt <= 2; attempt++) {
			ClaimedEvent claim = table().claim(heads(), LEASE, 1).get(0);
			assertThat(claim.event().attempts()).isEqualTo(attempt);
			assertThat(claim.event().payload()).asString().isEqualTo((attempt == 1) ? "huge" : "");
			endLeases();
		}
		assertThat(template().queryForObject("select payload from " + events(), byte[].class)).asString()
			.isEqualTo("huge");
	}

	@ParameterizedTest
	@ValueSource(strings = { "delete", "release", "postpone", "block", "moveToDead" })
	void settlesNothingThatWasClaimedAgain(String verb) {
		append("lost", "held");
		List<ClaimedEvent> first = claimOver();
		List<QueuedEvent> heads = heads();
		List<ClaimedEvent> again = claim(
				heads.stream().filter((head) -> head.id() == byType(first, "lost").event().sequence()).toList());
		assertThat(settle(verb).applyAsInt(first)).isOne();
		assertThat(heads()).filteredOn((head) -> head.id() == again.get(0).event().sequence())
			.extracting(QueuedEvent::attempts, QueuedEvent::due)
			.containsExactly(tuple(2, false));
		assertThat(settle(verb).applyAsInt(again)).isOne();
	}

	private static ClaimedEvent byType(List<ClaimedEvent> claims, String type) {
		return claims.stream().filter((claim) -> claim.event().type().equals(type)).findFirst().orElseThrow();
	}

	final ToIntFunction<List<ClaimedEvent>> settle(String verb) {
		return switch (verb) {
			case "delete" -> table()::delete;
			case "release" -> table()::release;
			case "postpone" -> (claims) -> table().postpone(failures(claims, "broken"));
			case "block" -> (claims) -> table().block(failures(claims, "broken"));
			case "moveToDead" -> (claims) -> table().moveToDead(failures(claims, "broken"));
			default -> throw new IllegalArgumentException(verb);
		};
	}

	/**
	 * A release makes a number free. Only a confirmed publication deletes a row.
	 */
	@Test
	void deletesWhatAnEarlierClaimOfTheSameNumberHasDelivered() {
		append("one");
		List<ClaimedEvent> slow = claimOver();
		List<ClaimedEvent> other = claim();
		assertThat(table().release(other)).isOne();
		assertThat(table().delete(slow)).isOne();
		assertThat(heads()).isEmpty();
	}

	@Test
	void settlesALeaseThatHasEndedIfNobodyElseHasClaimedIt() {
		append("one");
		assertThat(table().delete(claimOver())).isOne();
	}

	@Test
	void settlesNothing() {
		assertThat(table().delete(List.of())).isZero();
		assertThat(table().release(List.of())).isZero();
		assertThat(table().postpone(List.of())).isZero();
		assertThat(table().block(List.of())).isZero();
		assertThat(table().moveToDead(List.of())).isZero();
		assertThat(table().claim(List.of(), LEASE, 1)).isEmpty();
		assertThat(table().heads(List.of(), 1)).isEmpty();
		assertThat(inTransaction(() -> table().append(List.of()))).isEmpty();
	}

	@Test
	void givesTheAttemptOfAReleasedEventBack() {
		append("one");
		assertThat(table().release(claim())).isOne();
		assertThat(heads()).extracting(QueuedEvent::attempts, QueuedEvent::due, QueuedEvent::interrupted)
			.containsExactly(tuple(0, true, false));
		table().postpone(failures(claim(), "broken"));
		endLeases();
		assertThat(table().release(claim())).isOne();
		assertThat(heads()).extracting(QueuedEvent::attempts, QueuedEvent::due, QueuedEvent::interrupted)
			.containsExactly(tuple(1, true, false));
	}

	@Test
	void postponesAFailedEvent() {
		append("one", "two");
		assertThat(table().postpone(List.of(new Failure(claim().get(0), "broken", LEASE)))).isOne();
		assertThat(heads()).extracting(QueuedEvent::due).containsExactlyInAnyOrder(false, false);
		assertThat(heads()).extracting(QueuedEvent::interrupted).containsExactlyInAnyOrder(true, false);
		assertThat(template().queryForList("select last_error from " + events() + " where last_error is not null",
				String.class))
			.containsExactly("broken");
		endLeases();
		assertThat(claim()).extracting((claim) -> claim.event().attempts()).containsExactly(2, 2);
		assertThat(heads()).extracting(QueuedEvent::interrupted).containsOnly(true);
	}

	@Test
	void limitsWhatAPublisherGivesToWhatADatabaseCanStore() {
		append("one", "two");
		List<ClaimedEvent> claims = claim();
		assertThat(table()
			.postpone(List.of(new Failure(claims.get(0), "a\0" + "x".repeat(5000), Duration.ofDays(Integer.MAX_VALUE)),
					new Failure(claims.get(1), "late", Duration.ofDays(-1)))))
			.isEqualTo(2);
		assertThat(heads()).extracting(QueuedEvent::due).containsExactlyInAnyOrder(true, false);
	}

	@Test
	void blocksALane() {
		append(ordered("key", "one"), ordered("key", "two"));
		assertThat(table().block(failures(claim(), "broken"))).isOne();
		assertThat(claim()).isEmpty();
		Chunk chunk = table().scan(Long.MIN_VALUE, 100);
		assertThat(chunk.due()).isEmpty();
		assertThat(chunk.blocked()).isOne();
		assertThat(chunk.waiting()).isZero();
	}

	@Test
	void buriesARowWithItsReason() {
		Row row = append(ordered("key", "one"), ordered("key", "two")).get(0);
		assertThat(table().moveToDead(failures(claim(), "broken"))).isOne();
		assertThat(typesIn(events())).containsExactly("two");
		assertThat(template()
			.queryForMap("select lane, sequence, type, attempts, last_error from " + fixture().tables().dead()))
			.containsAllEntriesOf(Map.of("lane", row.lane(), "sequence", row.id(), "type", "one", "attempts", 1,
					"last_error", "broken"));
	}

	@Test
	void movesDelayedEventsWhenTheyAreDue() {
		assertThat(append(delayed("late", LEASE), delayed("soon", LEASE), unordered("now"))).hasSize(1);
		assertThat(typesIn(events())).containsExactly("now");
		table().delete(claim());
		assertThat(table().moveDelayed(10)).isEmpty();
		makeDue("soon");
		List<Row> moved = table().moveDelayed(10);
		assertThat(table().moveDelayed(10)).isEmpty();
		assertThat(moved).extracting(Row::topic).containsExactly(TOPIC);
		assertThat(heads()).extracting(QueuedEvent::lane, QueuedEvent::id, QueuedEvent::due, QueuedEvent::interrupted)
			.containsExactly(tuple(moved.get(0).lane(), moved.get(0).id(), true, false));
		assertThat(types(claim())).containsExactly("soon");
		assertThat(typesIn(fixture().tables().delayed())).containsExactly("late");
	}

	private void makeDue(String type) {
		template().update("update " + fixture().tables().delayed()
				+ " set due_at = timestamp '2001-01-01 00:00:00' where type = ?", type);
	}

	@Test
	void scansForLanesWhoseFirstRowIsDue() {
		List<Row> rows = append(ordered("one", "1"), ordered("one", "2"), ordered("two", "3"), ordered("three", "4"));
		ClaimedEvent leased = claim(heads().stream().filter((head) -> head.id() == rows.get(2).id()).toList()).get(0);
		Chunk chunk = table().scan(Long.MIN_VALUE, 100);
		assertThat(chunk.due()).containsExactlyInAnyOrder(rows.get(0), rows.get(3));
		assertThat(chunk.rows()).isEqualTo(4);
		assertThat(chunk.waiting()).isOne();
		assertThat(chunk.blocked()).isZero();
		assertThat(chunk.end()).isTrue();
		assertThat(chunk.oldest()).isPositive().isLessThan(Duration.ofMinutes(2));
		table().delete(List.of(leased));
		assertThat(table().scan(Long.MIN_VALUE, 100).waiting()).isZero();
	}

	@Test
	void claimsARowThatIsAloneInItsLaneAsItWasAppended() {
		List<Row> rows = append(unordered("one"), ordered("key", "two"));
		assertThat(rows.get(1).alone()).isNull();
		QueuedEvent alone = Objects.requireNonNull(rows.get(0).alone());
		QueuedEvent read = table().heads(List.of(new LaneQuery(alone.lane(), 0)), 10).get(0);
		assertThat(alone).usingRecursiveComparison().ignoringFields("key", "epoch", "bytes", "isNew").isEqualTo(read);
		assertThat(alone.bytes()).isBetween(read.bytes() - 50, read.bytes() + 50);
		assertThat(table().claim(List.of(alone), Duration.ofMinutes(1), 5)).hasSize(1);
		assertThat(table().claim(List.of(alone), Duration.ofMinutes(1), 5)).isEmpty();
	}

	@Test
	void scansInParts() {
		List<Row> rows = append(IntStream.range(0, 25).mapToObj((i) -> "event " + i).toArray(String[]::new));
		Chunk first = table().scan(Long.MIN_VALUE, 10);
		Chunk second = table().scan(last(first).lane(), 10);
		Chunk third = table().scan(last(second).lane(), 10);
		assertThat(List.of(first.end(), second.end(), third.end())).containsExactly(false, false, true);
		assertThat(IntStream.range(0, 3)
			.mapToObj((i) -> List.of(first, second, third).get(i))
			.flatMap((chunk) -> chunk.due().stream()))
			.containsExactlyElementsOf(rows.stream()
				.sorted(Comparator.comparingLong(Row::lane))
				.map((row) -> new Row(row.lane(), row.id(), row.topic()))
				.toList());
		assertThat(table().scan(last(third).lane(), 10))
			.isEqualTo(new Chunk(List.of(), List.of(), 0, 0, 0, Duration.ZERO, null, false, true));
	}

	@Test
	void saysIfAPartEndsWithinALane() {
		append(ordered("key", "1"), ordered("key", "2"), ordered("key", "3"));
		assertThat(table().scan(Long.MIN_VALUE, 2).cut()).isTrue();
		assertThat(table().scan(Long.MIN_VALUE, 4).cut()).isFalse();
	}

	private static Row last(Chunk chunk) {
		return Objects.requireNonNull(chunk.last());
	}

	/**
	 * Neither failed events nor events of paused topics are late.
	 */
	@Test
	void knowsTheAgeOfTheOldestEventThatCouldBeDelivered() {
		append("failed", "fresh");
		template().update("update " + events() + " set created_at = " + hourAgo());
		assertThat(table().scan(Long.MIN_VALUE, 10).oldest()).isBetween(Duration.ofMinutes(50), Duration.ofHours(2));
		table().postpone(failures(claim(), "broken"));
		assertThat(table().scan(Long.MIN_VALUE, 10).oldest()).isZero();
		append("leased");
		template().update("update " + events() + " set created_at = " + hourAgo() + " where type = 'leased'");
		claim();
		assertThat(table().scan(Long.MIN_VALUE, 10).oldest()).isGreaterThan(Duration.ofMinutes(50));
		template().update("insert into " + fixture().tables().control() + " (topic) values (?)", TOPIC);
		assertThat(table().scan(Long.MIN_VALUE, 10).oldest()).isZero();
	}

	private String hourAgo() {
		return switch (fixture().database()) {
			case POSTGRESQL -> "clock_timestamp() - interval '1 hour'";
			case MYSQL -> "utc_timestamp(6) - interval 1 hour";
			case H2 -> "dateadd(hour, -1, current_timestamp(6))";
		};
	}

	@Test
	void deliversRowsOfOtherPrograms() {
		UUID id = UUID.randomUUID();
		template().update("insert into " + events() + " (event_id, topic, type, payload) values (?, ?, 'foreign', ?)",
				fixture().database().parameter(id), TOPIC, new byte[] { 1 });
		Row row = table().scan(Long.MIN_VALUE, 10).due().get(0);
		assertThat(row.lane()).isBetween(0L, (1L << 40) - 1);
		SerializedEvent event = claim().get(0).event();
		assertThat(event.id()).isEqualTo(id);
		assertThat(event.storedHeaders()).containsExactly(Map.entry("content-type", "application/json"));
		assertThat(table().delete(claimOverdue())).isOne();
	}

	private List<ClaimedEvent> claimOverdue() {
		endLeases();
		return claim();
	}

	@Test
	void doesNotClaimRowsOfOtherProgramsBeforeTheyAreDue() {
		template().update(
				"insert into " + events() + " (event_id, topic, type, payload, due_at) values (?, ?, 'foreign', ?, "
						+ fixture().database().millisFromNow() + ")",
				fixture().database().parameter(UUID.randomUUID()), TOPIC, new byte[] { 1 }, 600_000);
		assertThat(table().scan(Long.MIN_VALUE, 10)).extracting(Chunk::due, Chunk::waiting, Chunk::oldest)
			.containsExactly(List.of(), 1, Duration.ZERO);
		assertThat(claim()).isEmpty();
		endLeases();
		assertThat(heads()).extracting(QueuedEvent::interrupted).containsExactly(false);
		assertThat(claim()).hasSize(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "no JSON", "null", "[]", "\"text\"", "{\"a\": {\"b\": 1}}", "{\"a\": null}", "{} {}" })
	void claimsAnEventWithUnreadableHeadersAsUndeliverable(String headers) {
		append("before", "behind");
		template().update(
				"insert into " + events() + " (event_id, topic, type, payload, headers) values (?, ?, 'foreign', ?, ?)",
				fixture().database().parameter(UUID.randomUUID()), TOPIC, new byte[] { 1 }, headers);
		List<ClaimedEvent> claims = claim();
		ClaimedEvent foreign = byType(claims, "foreign");
		assertThat(claims).hasSize(3).filteredOn((claim) -> claim.undeliverable() != null).containsExactly(foreign);
		assertThat(foreign.undeliverable())
			.isEqualTo(new Outcome.Reject("Its headers are not a JSON object of strings"));
		assertThat(table().moveToDead(failures(List.of(foreign), "unreadable"))).isOne();
		assertThat(template().queryForObject("select headers from " + fixture().tables().dead(), String.class))
			.isEqualTo(headers);
	}

	@Test
	void saysWhichTablesAreMissing() {
		EventTable without = new EventTable(new OwnTransactions(fixture().dataSource()), "missing_",
				PayloadEncryption.NONE);
		assertThatExceptionOfType(InvalidDataAccessResourceUsageException.class)
			.isThrownBy(() -> inTransaction(() -> without.append(List.of(unordered("one")))))
			.withMessageContaining("missing_event")
			.withMessageContaining("idempotent.outbox.initialize-schema");
	}

	@Test
	void losesItsMarkWithTheWorkOfATransaction() {
		UUID mark = inTransaction(() -> table().mark());
		assertThat(mark == null).isEqualTo(fixture().database() == Database.POSTGRESQL);
		if (mark != null) {
			assertThat(inTransaction(() -> table().unmark(mark))).isTrue();
			assertThat(inTransaction(() -> table().unmark(mark))).isFalse();
		}
	}

	/**
	 * With a pool of one connection whose defaults are not suitable.
	 */
	@ParameterizedTest
	@CsvSource({ "TRANSACTION_SERIALIZABLE, true", "TRANSACTION_SERIALIZABLE, false",
			"TRANSACTION_READ_UNCOMMITTED, true", "TRANSACTION_REPEATABLE_READ, false" })
	void worksWithOneConnectionOfAnyIsolation(String isolation, boolean autoCommit) {
		HikariConfig config = oneConnection();
		config.setTransactionIsolation(isolation);
		config.setAutoCommit(autoCommit);
		try (HikariDataSource pool = new HikariDataSource(config)) {
			EventTable table = fixture().through(pool).table();
			inTransaction(() -> {
				Row open = table().append(List.of(ordered("key", "one"), delayed("late", LEASE))).get(0);
				assertThat(table.heads(List.of(new LaneQuery(open.lane(), 0)), 1)).isEmpty();
				assertThat(table.scan(Long.MIN_VALUE, 10).rows()).isZero();
				return true;
			});
			List<ClaimedEvent> claims = table.claim(table.heads(looks(table), 1), LEASE, 10);
			assertThat(table.release(claims)).isOne();
			claims = table.claim(table.heads(looks(table), 1), LEASE, 10);
			assertThat(table.postpone(failures(claims, "broken"))).isOne();
			assertThat(table.block(failures(claims, "broken"))).isOne();
			assertThat(table.moveToDead(failures(claims, "broken"))).isOne();
			makeDue("late");
			assertThat(table.moveDelayed(10)).hasSize(1);
			claims = table.claim(table.heads(looks(table), 1), LEASE, 10);
			assertThat(table.delete(claims)).isOne();
			assertThat(typesIn(fixture().tables().dead())).containsExactly("one");
			assertThat(typesIn(events())).isEmpty();
		}
	}

	private static List<LaneQuery> looks(EventTable table) {
		return table.scan(Long.MIN_VALUE, 100).due().stream().map((row) -> new LaneQuery(row.lane(), 0)).toList();
	}

	/**
	 * Attempts are a token: no two claims of a row that was not released have the same.
	 */
	@Test
	void claimsEachRowForOneOfManyRelays() throws InterruptedException {
		append(IntStream.range(0, 400).mapToObj((i) -> "event " + i).toArray(String[]::new));
		List<QueuedEvent> heads = heads();
		List<List<ClaimedEvent>> shares = ConcurrentRuns.of(4, (relay) -> {
			List<ClaimedEvent> share = new ArrayList<>();
			for (int from = 0; from < heads.size(); from += 40) {
				share.addAll(claim(heads.subList(from, from + 40)));
			}
			return share;
		});
		assertThat(shares.stream().flatMap(List::stream).map(ClaimedEvent::id)).hasSize(400).doesNotHaveDuplicates();
		assertThat(shares.stream().flatMap(List::stream)).allSatisfy((claim) -> assertThat(claim.attempts()).isOne());
	}

	@Test
	void settlesEachRowOnce() throws InterruptedException {
		for (int i = 0; i < 20; i++) {
			append("one", "two");
			List<ClaimedEvent> claims = claim();
			List<Integer> settled = ConcurrentRuns.of(4,
					(relay) -> settle((relay % 2 == 0) ? "delete" : "moveToDead").applyAsInt(claims));
			assertThat(settled.stream().mapToInt(Integer::intValue).sum()).isEqualTo(2);
		}
	}

	/**
	 * Relays whose leases may end at once claim and settle the same lanes while events
	 * are appended to them. No step fails.
	 */
	@Test
	void keepsEachEventUntilItIsSettledOnce() throws InterruptedException {
		List<LaneQuery> lanes = IntStream.range(0, 30)
			.mapToObj((i) -> new LaneQuery(LaneHash.of(TOPIC, "key " + i), 0))
			.toList();
		AtomicInteger appenders = new AtomicInteger(2);
		Queue<UUID> ended = new ConcurrentLinkedQueue<>();
		ConcurrentRuns.of(6, (runner) -> {
			if (runner < 2) {
				for (int i = 0; i < 15; i++) {
					append(IntStream.range(0, 10)
						.mapToObj((each) -> ordered("key " + each * 3, "event"))
						.toArray(NewEvent[]::new));
				}
				return appenders.decrementAndGet();
			}
			Random random = new Random(runner);
			boolean open;
			List<QueuedEvent> heads;
			do {
				open = appenders.get() > 0;
				heads = table().heads(lanes, 3);
				Duration lease = random.nextBoolean() ? LEASE : Duration.ofMillis(-1);
				table().claim(heads, lease, 1000).forEach((claim) -> settle(claim, random, ended));
			}
			while (open || !heads.isEmpty());
			return runner;
		});
		assertThat(ended).hasSize(300).doesNotHaveDuplicates();
		assertThat(heads()).isEmpty();
	}

	private void settle(ClaimedEvent claim, Random random, Queue<UUID> ended) {
		String verb = List.of("delete", "release", "postpone", "moveToDead").get(random.nextInt(4));
		if (verb.equals("postpone")) {
			table().postpone(List.of(new Failure(claim, "broken", Duration.ZERO)));
		}
		else if (settle(verb).applyAsInt(List.of(claim)) == 1 && !verb.equals("release")) {
			ended.add(claim.event().id());
		}
	}

	/**
	 * Payloads that are encrypted in the tables.
	 */
	@Nested
	class Encryption extends EventTableSteps {

		private static final PayloadEncryption ENCRYPTED = encryption("k1");

		private static final String SECRET = "iban DE02120300000000202051";

		private @Nullable Fixture encrypted;

		@Override
		final Fixture fixture() {
			if (this.encrypted == null) {
				this.encrypted = plain().with(ENCRYPTED);
			}
			return this.encrypted;
		}

		private Fixture plain() {
			return AbstractEventTableTests.this.fixture();
		}

		@ParameterizedTest
		@ValueSource(ints = { 0, 1, 1000, 500_000 })
		void deliversWhatWasAppended(int bytes) {
			byte[] payload = new byte[bytes];
			Arrays.fill(payload, (byte) '"');
			SerializedEvent event = event("one", payload,
					Map.of("note", "Grüße \ud83d\ude80 'n\\", "content-type", "a/b"));
			append(new NewEvent(event, true, null));
			assertThat(facts(claim())).containsExactly(EventFacts.of(event, 1));
			assertThat(storedPayload(events())).hasSize(bytes + 32);
		}

		@Test
		void deliversAnEventWithoutKey() {
			SerializedEvent event = OutboxSamples.event(TOPIC, null, "one", new byte[] { 1 },
					Map.of("content-type", "a/b"));
			append(new NewEvent(event, true, null));
			assertThat(facts(claim())).containsExactly(EventFacts.of(event, 1));
		}

		@Test
		void showsNothingOfThePayloadInTheTable() {
			appendSecret();
			assertThat(new String(storedPayload(events()), StandardCharsets.ISO_8859_1)).doesNotContain("iban", "DE02");
			assertThat(template().queryForObject("select headers from " + events(), String.class))
				.contains("\"ce_encrypted\":\"1\"");
		}

		@Test
		void keepsTheEncryptedPayloadThroughFailureDeathAndRetry() {
			SerializedEvent event = appendSecret();
			byte[] stored = storedPayload(events());
			table().postpone(failures(claim(), "broken"));
			assertThat(storedPayload(events())).isEqualTo(stored);
			endLeases();
			table().moveToDead(failures(claim(), "broken"));
			assertThat(storedPayload(fixture().tables().dead())).isEqualTo(stored);
			new JdbcDeadEvents(new OwnTransactions(fixture().dataSource()), fixture().tables().prefix())
				.retry(EventFilter.ALL);
			assertThat(facts(claim())).containsExactly(EventFacts.of(event, 1));
		}

		@Test
		void encryptsDelayedEvents() {
			append(delayed("late", LEASE));
			assertThat(storedPayload(fixture().tables().delayed())).hasSize("late".length() + 32);
			template().update("update " + fixture().tables().delayed() + " set due_at = created_at");
			table().moveDelayed(10);
			assertThat(claim().get(0).event().payload()).asString().isEqualTo("late");
		}

		@ParameterizedTest
		@ValueSource(strings = { "type = 'order.refunded'", "event_key = 'mallory'", "event_key = null",
				"content_type = 'text/html'", "topic = concat(topic, '2')", "headers = '{\"ce_encrypted\": \"1\"}'",
				"headers = '{\"ce_encrypted\": \"1\", \"trace\": \"of mallory\"}'" })
		void rejectsAnEventWithAChangedColumn(String change) {
			appendSecret();
			append("other");
			template().update("update " + events() + " set " + change + " where type = 'secret'");
			List<ClaimedEvent> claimed = claim();
			assertThat(claimed).hasSize(2);
			boolean otherFirst = asText(claimed.get(0)).equals("other");
			ClaimedEvent other = claimed.get(otherFirst ? 0 : 1);
			assertThat(claimed.get(otherFirst ? 1 : 0).undeliverable())
				.isEqualTo(new Outcome.Reject("The payload cannot be decrypted: "
						+ "It was changed, belongs to another record, or was encrypted with another key of the id k1"));
			assertThat(other.undeliverable()).isNull();
			assertThat(asText(other)).isEqualTo("other");
		}

		@Test
		void rejectsThePayloadOfAnotherEvent() {
			append("one", "two");
			byte[] other = template().queryForObject("select payload from " + events() + " where type = 'two'",
					byte[].class);
			template().update("update " + events() + " set payload = ? where type = 'one'", other);
			assertThat(claim()).filteredOn((claim) -> claim.undeliverable() == null)
				.extracting((claim) -> claim.event().type())
				.containsExactly("two");
		}

		@Test
		void rejectsAPayloadInTheRowOfANewId() {
			appendSecret();
			template().update("update " + events() + " set event_id = ? where topic = ?",
					fixture().database().parameter(UUID.randomUUID()), TOPIC);
			assertThat(claim().get(0).undeliverable()).isInstanceOf(Outcome.Reject.class);
		}

		@ParameterizedTest
		@ValueSource(strings = { "", "\1", "plain" })
		void rejectsADamagedPayload(String damaged) {
			appendSecret();
			template().update("update " + events() + " set payload = ? where topic = ?",
					damaged.getBytes(StandardCharsets.US_ASCII), TOPIC);
			assertThat(claim().get(0).undeliverable()).isEqualTo(new Outcome.Reject(
					"The payload cannot be decrypted: It is damaged, or not in the format of this cipher"));
		}

		@Test
		void retriesAnEventWhoseKeyIsMissingUntilItIsThere() {
			SerializedEvent event = appendSecret();
			this.encrypted = plain().with(encryption("k2"));
			List<ClaimedEvent> claimed = claim();
			assertThat(claimed.get(0).undeliverable()).isEqualTo(new Outcome.Retry(
					"The payload cannot be decrypted: It is encrypted with the key k1, which is not configured", null));
			table().postpone(failures(claimed, "broken"));
			endLeases();
			this.encrypted = plain().with(encryption("k2", "k1"));
			assertThat(facts(claim())).containsExactly(EventFacts.of(event, 2));
		}

		@Test
		void retriesAnEncryptedEventWithoutAnyKey() {
			appendSecret();
			this.encrypted = plain().with(PayloadEncryption.NONE);
			ClaimedEvent claimed = claim().get(0);
			assertThat(claimed.undeliverable()).asInstanceOf(type(Outcome.Retry.class))
				.extracting(Outcome.Retry::reason)
				.isEqualTo(
						"The payload cannot be decrypted: idempotent.encryption.keys has no keys, and there is no bean "
								+ "of type PayloadCipher");
		}

		@Test
		void retriesAnEventWhoseCipherFails() {
			appendSecret();
			this.encrypted = plain().with(new PayloadEncryption(failing(), false));
			assertThat(claim().get(0).undeliverable()).isEqualTo(new Outcome.Retry(
					"The payload cannot be decrypted: the cipher failed with java.lang.NoClassDefFoundError", null));
		}

		/**
		 * A cipher may need a connection for its keys, and the pool may have one only.
		 */
		@Test
		void decryptsWithoutAConnection() {
			appendSecret();
			try (HikariDataSource pool = new HikariDataSource(oneConnection())) {
				PayloadCipher usual = Objects.requireNonNull(ENCRYPTED.cipher());
				PayloadCipher cipher = new PayloadCipher() {

					@Override
					public byte[] encrypt(byte[] plain, byte[] context) {
						return usual.encrypt(plain, context);
					}

					@Override
					public byte[] decrypt(byte[] encrypted, byte[] context) {
						new JdbcTemplate(pool).queryForList("select 1");
						return usual.decrypt(encrypted, context);
					}

				};
				EventTable table = plain().through(pool).with(new PayloadEncryption(cipher, false)).table();
				assertThat(table.claim(heads(), LEASE, 10)).extracting(ClaimedEvent::undeliverable)
					.containsExactly((Outcome) null);
			}
		}

		@ParameterizedTest
		@CsvSource({ "false, true", "true, false" })
		void rejectsPlainPayloadsUnlessTheyAreRead(boolean readPlaintext, boolean rejected) {
			Fixture plain = plain();
			inTransaction(() -> plain.table().append(List.of(unordered("one"))));
			this.encrypted = plain
				.with(new PayloadEncryption(Objects.requireNonNull(ENCRYPTED.cipher()), readPlaintext));
			ClaimedEvent claimed = claim().get(0);
			assertThat(claimed.undeliverable())
				.isEqualTo(rejected
						? new Outcome.Reject(
								"The payload is not encrypted, and idempotent.encryption.read-plaintext is false")
						: null);
			assertThat(claimed.event().payload()).asString().isEqualTo("one");
		}

		@Test
		void ignoresAMarkThatTheApplicationSets() {
			this.encrypted = plain().with(PayloadEncryption.NONE);
			SerializedEvent event = event("one", new byte[] { 1 }, Map.of("ce_encrypted", "1", "content-type", "a/b"));
			append(new NewEvent(event, true, null));
			assertThat(claim().get(0).undeliverable()).isNull();
		}

		@Test
		void appendsNothingWithoutItsCipher() {
			this.encrypted = plain().with(new PayloadEncryption(failing(), false));
			assertThatIllegalStateException().isThrownBy(() -> append("one"));
			assertThat(typesIn(events())).isEmpty();
		}

		@Test
		void decryptsNoEventWhosePayloadIsNotRead() {
			appendSecret();
			ClaimedEvent claimed = table().claim(heads(), LEASE, 0).get(0);
			assertThat(claimed.undeliverable()).isNull();
			assertThat(claimed.event().payload()).isEmpty();
		}

		@Test
		void readsTheSizesOfEventsAsTheyAreStored() {
			append("one");
			String headers = template().queryForObject("select headers from " + events(), String.class);
			assertThat(heads()).extracting(QueuedEvent::bytes).containsExactly(35L + String.valueOf(headers).length());
		}

		private SerializedEvent appendSecret() {
			SerializedEvent event = event("secret", SECRET.getBytes(StandardCharsets.UTF_8),
					Map.of("trace", "of alice", "content-type", "a/b"));
			append(new NewEvent(event, true, null));
			return event;
		}

		private byte[] storedPayload(String table) {
			return Objects.requireNonNull(template().queryForObject("select payload from " + table, byte[].class));
		}

		private static SerializedEvent event(String type, byte[] payload, Map<String, String> headers) {
			return OutboxSamples.event(TOPIC, "key of " + type, type, payload, headers);
		}

		private static List<EventFacts> facts(List<ClaimedEvent> claims) {
			return claims.stream().map((claim) -> EventFacts.of(claim.event())).toList();
		}

		private static String asText(ClaimedEvent claim) {
			return new String(claim.event().payload(), StandardCharsets.UTF_8);
		}

		private static PayloadCipher failing() {
			return new PayloadCipher() {

				@Override
				public byte[] encrypt(byte[] plain, byte[] context) {
					throw new IllegalStateException("not reachable");
				}

				@Override
				public byte[] decrypt(byte[] encrypted, byte[] context) {
					throw new NoClassDefFoundError("not reachable");
				}

			};
		}

		/**
		 * With keys that follow from their ids; the first one is active.
		 */
		private static PayloadEncryption encryption(String... ids) {
			Map<String, byte[]> keys = new HashMap<>();
			for (String id : ids) {
				keys.put(id, Arrays.copyOf(id.getBytes(StandardCharsets.US_ASCII), AesGcmPayloadCipher.KEY_BYTES));
			}
			return new PayloadEncryption(new AesGcmPayloadCipher(keys, ids[0]), false);
		}

	}

}
