package dev.idempotent.outbox;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.Stream;

import dev.idempotent.outbox.OutboxStore.ClaimScope;
import dev.idempotent.outbox.OutboxStore.EventLease;
import dev.idempotent.outbox.OutboxStore.FailedEvent;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxRow.Place;
import org.junit.jupiter.api.Timeout;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The steps of tests of a store. Each test has its own publisher.
 */
@Timeout(120)
public abstract class OutboxStoreSteps {

	protected static final Duration LONG = Duration.ofMinutes(10);

	private static final String OWNER = "this instance";

	protected final String publisher = "p" + UUID.randomUUID();

	protected abstract TestedOutboxStore tested();

	protected final OutboxStore store() {
		return tested().store();
	}

	protected final SerializedEvent event(String type) {
		return event(type, type.getBytes(StandardCharsets.UTF_8), Map.of("trace", "of " + type));
	}

	protected final SerializedEvent event(String type, byte[] payload, Map<String, String> headers) {
		return OutboxSamples.event(this.publisher + ":orders", "key of " + type, type, payload, headers);
	}

	protected final EventLease lease() {
		return EventLease.by(OWNER, LONG);
	}

	protected final <T> T inTransaction(Supplier<T> work) {
		TransactionTemplate template = new TransactionTemplate(tested().transactions());
		template.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		return template.execute((status) -> work.get());
	}

	/**
	 * Appends events without a lease and commits.
	 */
	protected final List<SerializedEvent> append(String... types) {
		List<SerializedEvent> events = Stream.of(types).map(this::event).toList();
		return inTransaction(() -> store().append(events, null));
	}

	protected final List<LeasedEvent> appendLeased(String... types) {
		EventLease lease = lease();
		List<SerializedEvent> events = Stream.of(types).map(this::event).toList();
		return inTransaction(() -> store().append(events, lease)).stream()
			.map((event) -> new LeasedEvent(event, lease.claimId(), false))
			.toList();
	}

	protected final List<LeasedEvent> claim() {
		return claimAbove(0, 1000);
	}

	protected final List<LeasedEvent> claimAbove(long row, int limit) {
		return store().claim(lease(), new ClaimScope(false, row, Set.of(this.publisher), limit));
	}

	protected final List<LeasedEvent> claimWaiting() {
		return claimWaiting(1000);
	}

	protected final List<LeasedEvent> claimWaiting(int limit) {
		return store().claim(lease(), new ClaimScope(true, 0, Set.of(this.publisher), limit));
	}

	/**
	 * Appends events, moves them to waiting and claims them.
	 */
	protected final List<LeasedEvent> appendAndClaimWaiting(String... types) {
		append(types);
		assertThat(postpone(claim(), Duration.ZERO)).isEqualTo(types.length);
		return claimWaiting();
	}

	protected final int postpone(List<LeasedEvent> events, Duration delay) {
		return store().postpone(events.stream().map((held) -> new FailedEvent(held, "broken", delay)).toList());
	}

	protected final int deadLetter(List<LeasedEvent> events) {
		return store().deadLetter(events.stream().map((held) -> new FailedEvent(held, "broken")).toList());
	}

	protected final void passTime() {
		tested().passTime(this.publisher);
	}

	protected final List<OutboxRow> rows(Place place) {
		return tested().rows(place, this.publisher);
	}

	protected final List<String> typesIn(Place place) {
		return rows(place).stream().map((row) -> row.event().type()).toList();
	}

	protected static List<String> types(List<LeasedEvent> events) {
		return events.stream().map((held) -> held.event().type()).toList();
	}

	protected static <T> List<T> both(List<T> some, List<T> others) {
		List<T> all = new ArrayList<>(some);
		all.addAll(others);
		return all;
	}

}
