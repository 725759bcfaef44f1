package dev.idempotent.outbox.jdbc;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.IntStream;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.jdbc.TableSweeper;
import dev.idempotent.outbox.DeadEvents.DeadEvent;
import dev.idempotent.outbox.DeadEvents.DeadPage;
import dev.idempotent.outbox.EventFilter;
import dev.idempotent.outbox.OutboxSamples;
import dev.idempotent.outbox.OutboxSamples.EventFacts;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.TopicControl;
import dev.idempotent.outbox.TopicControl.PausedTopic;
import dev.idempotent.outbox.jdbc.EventTable.Row;
import dev.idempotent.outbox.jdbc.OutboxOperations.EventCount;
import dev.idempotent.outbox.jdbc.OutboxOperations.LateEvent;
import dev.idempotent.outbox.jdbc.OutboxOperations.ListedEvent;
import dev.idempotent.outbox.jdbc.OutboxOperations.OutboxSummary;
import dev.idempotent.outbox.jdbc.OutboxOperations.Page;
import dev.idempotent.outbox.jdbc.OutboxOperations.Position;
import dev.idempotent.outbox.jdbc.OutboxOperations.Queue;
import dev.idempotent.testing.ConcurrentRuns;
import dev.idempotent.transaction.OwnTransactions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTimeout;

/**
 * What operators are promised on each database.
 */
abstract class AbstractOutboxOperationsTests extends EventTableSteps {

	private static final Duration HOUR = Duration.ofHours(1);

	private static final EventFilter ALL = EventFilter.ALL;

	@Test
	void listsEachPendingEventOncePageByPage() {
		append("a", "b", "c", "d", "e");
		append(ordered("key", "f"), ordered("key", "g"));
		List<ListedEvent> listed = new ArrayList<>();
		Page page = operations().pending(ALL, null, 2);
		listed.addAll(page.events());
		while (page.next() != null) {
			page = operations().pending(ALL, page.next(), 2);
			listed.addAll(page.events());
		}
		assertThat(listed).extracting(ListedEvent::type).containsExactlyInAnyOrder("a", "b", "c", "d", "e", "f", "g");
		assertThat(listed).extracting(ListedEvent::type).containsSubsequence("f", "g");
	}

	@Test
	void listsTheStateOfAnEvent() {
		NewEvent one = unordered("one");
		Row row = append(one).get(0);
		ListedEvent due = pendingOne();
		assertThat(due).isEqualTo(new ListedEvent(due.position(), row.id(), one.event().id().toString(), "one", TOPIC,
				false, 0, due.age(), Duration.ZERO, false, null, "one".length()));
		assertThat(due.age()).isBetween(Duration.ZERO, Duration.ofMinutes(2));
		List<ClaimedEvent> claims = claim();
		assertThat(pendingOne().leased()).isTrue();
		assertThat(pendingOne().availableIn()).isBetween(LEASE.minusMinutes(2), LEASE);
		table().postpone(failures(claims, "broken"));
		ListedEvent waiting = pendingOne();
		assertThat(waiting.lastError()).isEqualTo("broken");
		assertThat(waiting.leased()).isFalse();
		assertThat(waiting.attempts()).isOne();
		assertThat(waiting.availableIn()).isBetween(LEASE.minusMinutes(2), LEASE);
		assertThat(operations().waiting(ALL, null, 5).events()).extracting(ListedEvent::row).containsExactly(row.id());
		assertThat(operations().blocked(ALL, null, 5).events()).isEmpty();
		endLeases();
		assertThat(operations().waiting(ALL, null, 5).events()).isEmpty();
		table().block(failures(claim(), "refused"));
		assertThat(operations().blocked(ALL, null, 5).events()).extracting(ListedEvent::row).containsExactly(row.id());
		assertThat(operations().waiting(ALL, null, 5).events()).isEmpty();
		assertThat(pendingOne().availableIn()).isNull();
	}

	/**
	 * The first operation of a process also detects the kind of its database.
	 */
	@Test
	void worksWithOneConnection() {
		append(ordered("key", "one"));
		table().block(failures(claim(), "refused"));
		try (HikariDataSource pool = new HikariDataSource(oneConnection())) {
			assertThat(fresh(pool).pending(ALL, null, 5).events()).hasSize(1);
			assertThat(fresh(pool).blocked(ALL, null, 5).events()).hasSize(1);
			assertThat(fresh(pool).delayed(ALL, null, 5).events()).isEmpty();
			assertThat(fresh(pool).late()).isEmpty();
			assertThat(fresh(pool).skipBlocked(ALL)).isOne();
			assertThat(fresh(pool).discardBlocked(ALL)).isZero();
			assertThat(fresh(pool).retryBlocked(ALL)).isZero();
		}
	}

	private OutboxOperations fresh(HikariDataSource pool) {
		return new OutboxOperations(new OwnTransactions(pool), fixture().tables().prefix(), PayloadEncryption.NONE);
	}

	private ListedEvent pendingOne() {
		return operations().pending(ALL, null, 5).events().get(0);
	}

	@Test
	void findsTheEventThatIsLate() {
		assertThat(operations().late()).isEmpty();
		append(ordered("key", "first"), ordered("key", "next"), unordered("young"));
		template().update("update " + events() + " set created_at = " + longAgo() + " where type <> 'young'");
		LateEvent late = operations().late().orElseThrow();
		assertThat(late.type()).isEqualTo("first");
		assertThat(late.topic()).isEqualTo(TOPIC);
		assertThat(late.age()).isGreaterThan(HOUR);
		assertThat(late.leased()).isFalse();
		assertThat(late.locked()).isFalse();
		assertThat(operations().pending(new EventFilter(UUID.fromString(late.id()), null, null), null, 5).events())
			.hasSize(1);
		assertThat(claim()).isNotEmpty();
		assertThat(operations().late().orElseThrow().leased()).isTrue();
		operations().pause(TOPIC);
		assertThat(operations().late()).isEmpty();
		operations().resume(TOPIC);
	}

	@Test
	void tellsWhetherTheLateEventIsLocked() {
		append("one");
		new TransactionTemplate(new JdbcTransactionManager(fixture().dataSource())).executeWithoutResult((status) -> {
			template().update("update " + events() + " set attempts = 0");
			assertThat(operations().late().orElseThrow().locked()).isTrue();
		});
		assertThat(operations().late().orElseThrow().locked()).isFalse();
	}

	private String longAgo() {
		return fixture().database().millisFromNow().replace("?", "-7200000");
	}

	@Test
	void listsDelayedEventsPageByPage() {
		append(delayed("one", HOUR), delayed("two", HOUR), delayed("three", HOUR));
		Page first = operations().delayed(ALL, null, 2);
		assertThat(first.events()).extracting(ListedEvent::type).containsExactly("one", "two");
		assertThat(first.events().get(0).availableIn()).isBetween(HOUR.minusMinutes(2), HOUR.plusMillis(1));
		assertThat(first.events().get(0).leased()).isFalse();
		Page second = operations().delayed(ALL, first.next(), 2);
		assertThat(second.events()).extracting(ListedEvent::type).containsExactly("three");
		assertThat(second.next()).isNull();
	}

	@Test
	void listsOnlyEventsThatMatchAFilter() {
		NewEvent one = unordered("one");
		append(one, unordered("two"));
		assertThat(pending(new EventFilter(one.event().id(), null, null))).containsExactly("one");
		assertThat(pending(new EventFilter(null, "two", TOPIC))).containsExactly("two");
		assertThat(pending(new EventFilter(null, "two", "other:x"))).isEmpty();
	}

	private List<String> pending(EventFilter filter) {
		return operations().pending(filter, null, 5).events().stream().map(ListedEvent::type).toList();
	}

	@Test
	void examinesALimitedNumberOfRowsForAPage() {
		append("one");
		for (int i = 0; i < 14; i++) {
			doubleEvents();
		}
		// Behind all others.
		template().update(
				"insert into " + events() + " (lane, event_id, topic, type, payload) values (?, ?, ?, 'last', ?)",
				Long.MAX_VALUE, parameter(UUID.randomUUID()), TOPIC, new byte[1]);
		EventFilter rare = new EventFilter(null, "last", null);
		Page first = operations().pending(rare, null, 5);
		assertThat(first.events()).isEmpty();
		assertThat(first.next()).isNotNull();
		Page second = operations().pending(rare, first.next(), 5);
		assertThat(second.events()).extracting(ListedEvent::type).containsExactly("last");
		assertThat(second.next()).isNull();
	}

	@Test
	void examinesALimitedNumberOfDeadEventsForAPage() {
		moveToDead("one");
		for (int i = 0; i < 14; i++) {
			doubleDeadEvents();
		}
		UUID last = moveToDead("last").get(0);
		for (EventFilter rare : List.of(new EventFilter(null, "last", null), new EventFilter(last, null, null))) {
			DeadPage first = deadEvents().list(rare, 0, 5);
			assertThat(first.events()).isEmpty();
			DeadPage second = deadEvents().list(rare, Objects.requireNonNull(first.next()), 5);
			assertThat(second.events()).extracting(DeadEvent::type).containsExactly("last");
			assertThat(second.next()).isNull();
		}
	}

	/**
	 * A generous limit: on a busy machine, a page took less than 0.13 s.
	 */
	@Test
	void answersQuicklyAmongAHundredThousandEvents() {
		moveToDead("one");
		append(ordered("key", "first"));
		table().block(failures(claim(), "refused"));
		for (int i = 0; i < 17; i++) {
			doubleDeadEvents();
			template().update("insert into " + events() + " (lane, due_at, last_error, " + EventRow.COLUMNS
					+ ") select lane, due_at, last_error, " + EventRow.COLUMNS + " from " + events());
		}
		NewEvent last = ordered("key", "last");
		append(last);
		UUID id = last.event().id();
		assertTimeout(Duration.ofSeconds(20), () -> {
			DeadPage dead = deadEvents().list(ALL, 0, 500);
			assertThat(deadEvents().list(ALL, Objects.requireNonNull(dead.next()), 500).events()).hasSize(500);
			Page blocked = operations().blocked(ALL, null, 500);
			assertThat(operations().blocked(ALL, blocked.next(), 500).events()).hasSize(500);
			assertThat(operations().waiting(ALL, null, 500).events()).isEmpty();
			EventFilter one = new EventFilter(id, null, null);
			Page page = operations().pending(one, null, 500);
			int pages = 1;
			while (page.events().isEmpty()) {
				page = operations().pending(one, page.next(), 500);
				pages++;
			}
			assertThat(pages).isEqualTo(14);
			Queue searched = queue(last, null, 500);
			assertThat(searched.head()).isNull();
			assertThat(types(searched)).isEmpty();
			assertThat(operations().readPending(id, null)).isNull();
			Queue found = queue(last, searched.page().next(), 500);
			assertThat(found.head()).isNotNull();
			assertThat(queue(last, found.page().next(), 500).page().events()).hasSize(500);
			assertThat(payload(operations().readPending(id, searched.page().next()))).isEqualTo("last");
		});
	}

	private void doubleDeadEvents() {
		template().update("insert into " + dead() + " (lane, sequence, attempts, created_at, " + EventRow.COLUMNS
				+ ") select lane, sequence, attempts, created_at, " + EventRow.COLUMNS + " from " + dead());
	}

	@Test
	void listsTheQueueOfAnEventPageByPage() {
		List<NewEvent> events = List.of(ordered("a", "a1"), ordered("a", "a2"), ordered("b", "b1"), ordered("a", "a3"));
		append(events.toArray(NewEvent[]::new));
		table().block(failures(claim(), "refused"));
		String head = events.get(0).event().id().toString();
		for (int of : List.of(0, 1, 3)) {
			Queue first = queue(events.get(of), null, 2);
			assertThat(types(first)).containsExactly("a1", "a2");
			assertThat(first.page().events()).allMatch(ListedEvent::ordered);
			Queue second = queue(events.get(of), first.page().next(), 2);
			assertThat(types(second)).containsExactly("a3");
			assertThat(second.page().next()).isNull();
			assertThat(List.of(first, second)).extracting(Queue::head).containsOnly(head);
		}
		assertThat(types(queue(events.get(2), null, 2))).containsExactly("b1");
	}

	@Test
	void listsTheQueueOfAnEventWithoutOrder() {
		NewEvent alone = unordered("one");
		append(alone, unordered("two"));
		Queue queue = queue(alone, null, 2);
		assertThat(types(queue)).containsExactly("one");
		assertThat(queue.page().events()).noneMatch(ListedEvent::ordered);
		assertThat(queue.head()).isEqualTo(alone.event().id().toString());
	}

	@Test
	void findsNoQueueOfAnEventThatDoesNotWait() {
		NewEvent later = delayed("later", HOUR);
		append(later);
		assertThat(operations().queue(later.event().id(), null, 5)).isNull();
		assertThat(operations().queue(moveToDead("dead").get(0), null, 5)).isNull();
		assertThat(operations().queue(UUID.randomUUID(), null, 5)).isNull();
	}

	/**
	 * Other programs can insert an id twice.
	 */
	@Test
	void listsTheFirstQueueOfAnIdThatSeveralRowsHave() {
		NewEvent event = unordered("one");
		append(event);
		template().update(
				"insert into " + events() + " (lane, event_id, topic, type, payload) values (?, ?, ?, 'again', ?)",
				Long.MAX_VALUE, parameter(event.event().id()), TOPIC, new byte[1]);
		Queue first = queue(event, null, 1);
		assertThat(types(first)).containsExactly("one");
		Position behind = first.page().events().get(0).position();
		assertThat(types(queue(event, behind, 1))).containsExactly("again");
	}

	@Test
	void readsAPayloadInEachState() {
		NewEvent one = unordered("one");
		NewEvent later = delayed("later", HOUR);
		UUID dead = moveToDead("dead").get(0);
		append(one, later);
		UUID pending = one.event().id();
		assertThat(payload(operations().readPending(pending, null))).isEqualTo("one");
		assertThat(payload(operations().readDelayed(later.event().id(), null))).isEqualTo("later");
		assertThat(payload(operations().readDead(dead, 0))).isEqualTo("dead");
		assertThat(operations().readPending(dead, null)).isNull();
		assertThat(operations().readDelayed(pending, null)).isNull();
		assertThat(operations().readDead(pending, 0)).isNull();
		long row = deadEvents().list(ALL, 0, 1).events().get(0).row();
		assertThat(operations().readDead(dead, row)).isNull();
		assertThat(payload(operations().readDead(dead, row - 1))).isEqualTo("dead");
	}

	private static String payload(@Nullable EventRow read) {
		assertThat(Objects.requireNonNull(read).unreadable()).isNull();
		return new String(read.event().payload(), StandardCharsets.UTF_8);
	}

	@Test
	void tellsWhyAPayloadCannotBeRead() {
		NewEvent one = unordered("one");
		append(one);
		template().update("update " + events() + " set headers = '{\"ce_encrypted\": \"1\"}'");
		assertThat(operations().readPending(one.event().id(), null)).isNotNull()
			.satisfies((read) -> assertThat(read.problem()).startsWith("The payload cannot be decrypted: "));
		template().update("update " + events() + " set headers = 'x'");
		assertThat(operations().readPending(one.event().id(), null)).isNotNull()
			.satisfies((read) -> assertThat(read.problem()).isEqualTo("Its headers are not a JSON object of strings"));
	}

	private Queue queue(NewEvent event, @Nullable Position after, int limit) {
		return Objects.requireNonNull(operations().queue(event.event().id(), after, limit));
	}

	private static List<String> types(Queue queue) {
		return queue.page().events().stream().map(ListedEvent::type).toList();
	}

	private void doubleEvents() {
		template().update("insert into " + events() + " (event_id, topic, type, payload) select event_id, topic, type, "
				+ "payload from " + events());
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "1", "x-1", "1-", "-", "1-2-3", "-1-1" })
	void rejectsWhatIsNotTheEndOfAPage(String after) {
		assertThatIllegalArgumentException().isThrownBy(() -> Position.parse(after));
		assertThatIllegalArgumentException().isThrownBy(() -> Position.parse("queue-" + after));
	}

	@Test
	void retriesABlockedEventFirst() {
		append(ordered("a", "a1"), ordered("a", "a2"));
		table().block(failures(claim(), "refused"));
		assertThat(operations().retryBlocked(ALL)).isOne();
		assertThat(heads()).extracting(QueuedEvent::attempts, QueuedEvent::due, QueuedEvent::interrupted)
			.containsExactly(tuple(0, true, false));
		assertThat(pendingOne().lastError()).isNull();
		assertThat(types(claim())).containsExactly("a1");
	}

	@Test
	void skipsABlockedEvent() {
		Row row = append(ordered("a", "a1"), ordered("a", "a2")).get(0);
		table().block(failures(claim(), "refused"));
		assertThat(operations().skipBlocked(ALL)).isOne();
		assertThat(types(claim())).containsExactly("a2");
		assertThat(template().queryForMap("select lane, sequence, type, last_error from " + dead()))
			.containsAllEntriesOf(
					Map.of("lane", row.lane(), "sequence", row.id(), "type", "a1", "last_error", "refused"));
	}

	@Test
	void discardsABlockedEvent() {
		append(ordered("a", "a1"), ordered("a", "a2"));
		table().block(failures(claim(), "refused"));
		assertThat(operations().discardBlocked(ALL)).isOne();
		assertThat(typesIn(events())).containsExactly("a2");
		assertThat(typesIn(dead())).isEmpty();
	}

	@Test
	void changesOnlyBlockedEventsThatMatchAFilter() {
		NewEvent first = ordered("a", "a1");
		append(first, ordered("b", "b1"));
		table().block(failures(claim(), "refused"));
		append(ordered("c", "c1"));
		table().postpone(failures(claim(), "broken"));
		EventFilter other = new EventFilter(null, null, TOPIC + "2");
		assertThat(
				operations().retryBlocked(other) + operations().skipBlocked(other) + operations().discardBlocked(other))
			.isZero();
		assertThat(operations().discardBlocked(new EventFilter(first.event().id(), null, null))).isOne();
		assertThat(operations().skipBlocked(new EventFilter(null, "b1", TOPIC))).isOne();
		assertThat(operations().discardBlocked(ALL)).isZero();
		assertThat(typesIn(events())).containsExactly("c1");
	}

	@Test
	void changesManyBlockedEventsOnceForManyOperators() throws InterruptedException {
		append(IntStream.range(0, 1100).mapToObj((i) -> "event " + i).toArray(String[]::new));
		table().block(failures(claim(), "refused"));
		List<Integer> changed = ConcurrentRuns.of(3, (operator) -> switch (operator) {
			case 0 -> operations().retryBlocked(ALL);
			case 1 -> operations().skipBlocked(ALL);
			default -> operations().discardBlocked(ALL);
		});
		int rest = operations().skipBlocked(ALL);
		assertThat(changed.stream().mapToInt(Integer::intValue).sum() + rest).isEqualTo(1100);
		assertThat(heads()).hasSize(changed.get(0));
		assertThat(typesIn(dead())).hasSize(changed.get(1) + rest);
	}

	@Test
	void listsDeadEventsPageByPage() {
		moveToDead("one", "two", "three");
		DeadPage page = deadEvents().list(ALL, 0, 2);
		assertThat(page.events()).hasSize(2);
		assertThat(page.next()).isEqualTo(page.events().get(1).row());
		assertThat(deadEvents().list(ALL, page.events().get(1).row(), 2).events()).hasSize(1);
		assertThat(deadEvents().list(ALL, page.events().get(1).row(), 2).next()).isNull();
	}

	@Test
	void listsTheReasonAndAgeOfADeadEventWithoutItsPayload() {
		NewEvent secret = new NewEvent(
				OutboxSamples.event(TOPIC, "secret key", "one", "secret".getBytes(StandardCharsets.UTF_8), Map.of()),
				true, null);
		append(secret);
		table().moveToDead(failures(claim(), "refused"));
		age(HOUR);
		DeadEvent event = deadEvents().list(ALL, 0, 1).events().get(0);
		assertThat(event.deadFor()).isBetween(HOUR, HOUR.plusMinutes(2));
		assertThat(event).isEqualTo(new DeadEvent(secret.event().id(), event.row(), "one", TOPIC, true, 1,
				event.deadFor(), "refused", "secret".length()));
		assertThat(event.toString()).doesNotContain("secret");
	}

	@Test
	void changesOnlyDeadEventsThatMatchAFilter() {
		List<UUID> ids = moveToDead("one", "two", "three", "two");
		assertThat(deadEvents().retry(new EventFilter(null, "two", "other:x"))).isZero();
		assertThat(deadEvents().retry(new EventFilter(ids.get(0), "two", null))).isZero();
		assertThat(deadEvents().retry(new EventFilter(ids.get(0), null, null))).isOne();
		assertThat(deadEvents().discard(new EventFilter(null, "two", TOPIC))).isEqualTo(2);
		assertThat(typesIn(dead())).containsExactly("three");
		assertThat(typesIn(events())).containsExactly("one");
	}

	@Test
	void changesNoEventThatDiedAfterTheLookOfTheOperator() {
		assertThat(deadEvents().list(ALL, 0, 1).newest()).isZero();
		moveToDead("one", "two");
		EventFilter seen = new EventFilter(null, null, null, deadEvents().list(ALL, 0, 1).newest());
		moveToDead("two", "three");
		assertThat(deadEvents().list(seen, 0, 10).events()).extracting(DeadEvent::type)
			.containsExactlyInAnyOrder("one", "two");
		assertThat(deadEvents().retry(new EventFilter(null, "two", null, seen.upTo()))).isOne();
		assertThat(deadEvents().discard(seen)).isOne();
		assertThat(typesIn(dead())).containsExactlyInAnyOrder("two", "three");
	}

	@Test
	void retriesAnOrderedEventInItsRowWithAllItsAttempts() {
		SerializedEvent event = event("a", "a1");
		List<Row> rows = append(new NewEvent(event, true, null), ordered("a", "a2"));
		table().moveToDead(failures(claim(), "refused"));
		assertThat(deadEvents().retry(ALL)).isOne();
		assertThat(typesIn(dead())).isEmpty();
		ClaimedEvent claim = claim().get(0);
		assertThat(EventFacts.of(claim.event())).isEqualTo(EventFacts.of(event, 1));
		assertThat(claim.event().sequence()).isEqualTo(rows.get(0).id());
		assertThat(claim.lane()).isEqualTo(LaneHash.of(TOPIC, "a"));
		assertThat(table().scan(Long.MIN_VALUE, 10).oldest()).isLessThan(Duration.ofMinutes(2));
	}

	@Test
	void retriesADeadEventWhoseRowIsTaken() {
		Row first = append(ordered("a", "first")).get(0);
		table().moveToDead(failures(claim(), "refused"));
		Row second = append(ordered("a", "second")).get(0);
		template().update("update " + events() + " set id = ? where id = ?", first.id(), second.id());
		assertThat(deadEvents().retry(ALL)).isOne();
		assertThat(typesIn(dead())).isEmpty();
		assertThat(typesIn(events())).containsExactly("second", "first");
	}

	@Test
	void movesAndDeletesEachDeadEventOnceForManyOperators() throws InterruptedException {
		moveToDead(IntStream.range(0, 1100).mapToObj((i) -> "event " + i).toArray(String[]::new));
		List<int[]> done = ConcurrentRuns.of(4, (operator) -> (operator % 2 == 0)
				? new int[] { deadEvents().retry(ALL), 0 } : new int[] { 0, deadEvents().discard(ALL) });
		int retried = done.stream().mapToInt((counts) -> counts[0]).sum() + deadEvents().retry(ALL);
		int discarded = done.stream().mapToInt((counts) -> counts[1]).sum();
		assertThat(retried + discarded).isEqualTo(1100);
		assertThat(typesIn(events())).hasSize(retried);
		assertThat(typesIn(dead())).isEmpty();
	}

	@Test
	void skipsALockedDeadEvent() throws SQLException {
		moveToDead("one", "two");
		long locked = deadEvents().list(ALL, 0, 1).events().get(0).row();
		try (Connection other = fixture().dataSource().getConnection()) {
			other.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
			other.setAutoCommit(false);
			try (PreparedStatement lock = other
				.prepareStatement("select id from " + dead() + " where id = ? for update")) {
				lock.setLong(1, locked);
				lock.executeQuery();
			}
			assertThat(deadEvents().discard(ALL)).isOne();
			other.rollback();
		}
		assertThat(deadEvents().list(ALL, 0, 5).events()).extracting(DeadEvent::row).containsExactly(locked);
	}

	@Test
	void retriesAnEventOnceEvenIfItDiesAgain() {
		moveToDead(IntStream.range(0, 600).mapToObj((i) -> "event " + i).toArray(String[]::new));
		JdbcDeadEvents fruitless = new JdbcDeadEvents(
				new OwnTransactions(new DelegatingDataSource(fixture().dataSource()) {

					@Override
					public Connection getConnection() throws SQLException {
						List<ClaimedEvent> retried = claim();
						table().moveToDead(failures(retried, "refused"));
						return super.getConnection();
					}

				}), fixture().tables().prefix());
		assertThat(fruitless.retry(ALL)).isEqualTo(600);
	}

	@Test
	void sweepsOnlyEventsThatHaveBeenDeadForTooLong() {
		moveToDead("one", "two");
		age(HOUR);
		moveToDead("three");
		try (TableSweeper sweeper = deadEvents().sweeper(HOUR.minusMinutes(1))) {
			assertThat(sweeper.sweep()).isEqualTo(2);
			assertThat(sweeper.sweep()).isZero();
		}
		assertThat(typesIn(dead())).containsExactly("three");
	}

	@Test
	void sweepsEachEventOnceOnManyInstances() throws InterruptedException {
		moveToDead(IntStream.range(0, 1100).mapToObj((i) -> "event " + i).toArray(String[]::new));
		age(HOUR);
		List<Integer> swept = ConcurrentRuns.of(4, (instance) -> sweep());
		assertThat(swept.stream().mapToInt(Integer::intValue).sum() + sweep()).isEqualTo(1100);
		assertThat(typesIn(dead())).isEmpty();
	}

	private int sweep() {
		try (TableSweeper sweeper = deadEvents().sweeper(Duration.ofMinutes(1))) {
			return sweeper.sweep();
		}
	}

	@Test
	void sweepsAtAnIntervalUntilClosed() {
		moveToDead("one");
		try (TableSweeper sweeper = deadEvents().sweeper(Duration.ofMillis(20))) {
			sweeper.start();
			await().until(() -> typesIn(dead()).isEmpty());
		}
		moveToDead("two");
		await().during(Duration.ofMillis(200)).until(() -> typesIn(dead()).size() == 1);
	}

	@Test
	void countsDelayedAndDeadEventsUpToALimit() {
		append(delayed("one", HOUR), delayed("two", HOUR));
		moveToDead("dead");
		assertThat(operations().summary())
			.isEqualTo(new OutboxSummary(new EventCount(2, true), new EventCount(1, true)));
		for (int i = 0; i < 13; i++) {
			template().update("insert into " + fixture().tables().delayed() + " (lane, due_at, " + EventRow.COLUMNS
					+ ") select lane, due_at, " + EventRow.COLUMNS + " from " + fixture().tables().delayed());
		}
		assertThat(operations().summary().delayed()).isEqualTo(new EventCount(10_000, false));
	}

	@Test
	void doesNotQueryMissingTablesAgain() {
		OutboxOperations lost = new OutboxOperations(new OwnTransactions(fixture().dataSource()), "late_",
				PayloadEncryption.NONE);
		assertThatExceptionOfType(InvalidDataAccessResourceUsageException.class).isThrownBy(lost::summary);
		assertThatExceptionOfType(InvalidDataAccessResourceUsageException.class).isThrownBy(lost::summary)
			.withMessage("The tables of the outbox do not exist");
	}

	@Test
	void pausesATopicUntilItIsResumed() {
		assertThat(control().pause("test:b")).isTrue();
		assertThat(control().pause("test:b")).isFalse();
		assertThat(control().pause("test:a")).isTrue();
		assertThat(control().paused()).extracting(PausedTopic::topic).containsExactly("test:a", "test:b");
		assertThat(control().paused()).extracting(PausedTopic::pausedFor)
			.allMatch((age) -> age.compareTo(Duration.ofMinutes(2)) < 0);
		assertThat(control().resume("test:b")).isTrue();
		assertThat(control().resume("test:b")).isFalse();
		assertThat(control().paused()).extracting(PausedTopic::topic).containsExactly("test:a");
	}

	@Test
	void letsOneOfManyOperatorsPauseATopic() throws InterruptedException {
		List<Boolean> changed = ConcurrentRuns.of(4, (operator) -> control().pause("test:contended"));
		assertThat(changed).containsOnlyOnce(true);
	}

	@Test
	void limitsTheNumberOfPausedTopics() {
		List<Object[]> most = IntStream.range(0, TopicControl.MAX_TOPICS)
			.mapToObj((i) -> new Object[] { "test:" + i })
			.toList();
		template().batchUpdate("insert into " + fixture().tables().control() + " (topic) values (?)", most);
		assertThat(control().pause("test:0")).isFalse();
		assertThatIllegalStateException().isThrownBy(() -> control().pause("test:more"))
			.withMessage("1000 topics are paused");
		control().resume("test:0");
		assertThat(control().pause("test:more")).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "orders", "test:", ":orders", "te st:orders", "test:or\0ders", "test:or\nders" })
	void refusesWhatIsNotATopic(String topic) {
		assertThatIllegalArgumentException().isThrownBy(() -> control().pause(topic))
			.withMessageStartingWith("A topic consists of");
		assertThat(control().paused()).isEmpty();
	}

	@Test
	void refusesATopicThatIsTooLong() {
		String longest = "test:" + "x".repeat(250);
		assertThat(control().pause(longest)).isTrue();
		assertThatIllegalArgumentException().isThrownBy(() -> control().pause(longest + "x"));
	}

	@Test
	void treatsATopicAsText() {
		String topic = "test:'; drop table x; -- " + UUID.randomUUID();
		assertThat(control().pause(topic)).isTrue();
		assertThat(control().paused()).extracting(PausedTopic::topic).containsExactly(topic);
		assertThat(control().resume(topic)).isTrue();
	}

	@Test
	void knowsWhetherTheTablesExist() {
		assertThat(check("").hasTables()).isTrue();
		assertThat(check("").hasEventTable()).isTrue();
		assertThat(check("missing_").hasTables()).isFalse();
		assertThat(check("missing_").hasEventTable()).isFalse();
		assertThat(check("missing_").missingTables()).contains("missing_event", "missing_delayed", "missing_dead",
				"missing_control");
	}

	@Test
	void doesNotTakeTablesOfAnotherShapeForItsOwn() {
		template().execute("create table if not exists shape_event (id bigint, event_id char(36), topic varchar(255))");
		assertThat(check("shape_").hasTables()).isFalse();
		assertThat(check("shape_").hasEventTable()).isTrue();
		assertThat(check("shape_").missingTables()).endsWith("or they have other columns");
	}

	@Test
	void acceptsTheIdsOfTheScript() {
		assertThatCode(() -> check("").requireIncreasingRows()).doesNotThrowAnyException();
	}

	private OutboxTableCheck check(String prefix) {
		return new OutboxTableCheck(new OwnTransactions(fixture().dataSource()),
				prefix.isEmpty() ? fixture().tables().prefix() : prefix);
	}

	final OutboxOperations operations() {
		return new OutboxOperations(new OwnTransactions(fixture().dataSource()), fixture().tables().prefix(),
				PayloadEncryption.NONE);
	}

	private JdbcDeadEvents deadEvents() {
		return new JdbcDeadEvents(new OwnTransactions(fixture().dataSource()), fixture().tables().prefix());
	}

	private TopicControl control() {
		return operations();
	}

	private String dead() {
		return fixture().tables().dead();
	}

	/**
	 * Appends events that become dead.
	 */
	private List<UUID> moveToDead(String... types) {
		NewEvent[] events = List.of(types).stream().map(EventTableSteps::unordered).toArray(NewEvent[]::new);
		append(events);
		table().moveToDead(failures(claim(), "refused"));
		return List.of(events).stream().map((event) -> event.event().id()).toList();
	}

	/**
	 * Makes all dead events older.
	 */
	private void age(Duration by) {
		template().update("update " + dead() + " set died_at = " + fixture().database().millisFromNow(),
				-by.toMillis());
	}

	private Object parameter(UUID id) {
		return fixture().database().parameter(id);
	}

}
