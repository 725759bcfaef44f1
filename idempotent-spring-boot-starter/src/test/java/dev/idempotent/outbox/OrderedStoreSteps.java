package dev.idempotent.outbox;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import dev.idempotent.outbox.OrderedOutboxStore.Head;
import dev.idempotent.outbox.OrderedOutboxStore.KeyLimits;
import dev.idempotent.outbox.OutboxStore.EventLease;
import dev.idempotent.outbox.OutboxStore.FailedEvent;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxStore.OrderedRow;
import org.junit.jupiter.api.Timeout;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The steps of tests of a store of ordered events. Each test has its own topic. The type
 * of an event is its key and a number: {@code a1}, {@code a2}, {@code b1}.
 */
@Timeout(120)
public abstract class OrderedStoreSteps {

	protected static final Duration LONG = Duration.ofMinutes(10);

	protected static final KeyLimits LIMITS = new KeyLimits(32, Long.MAX_VALUE, 2, 10);

	protected static final String OWNER = "this instance";

	protected final String topic = "t" + UUID.randomUUID() + ":orders";

	protected abstract TestedOrderedStore tested();

	protected final OrderedOutboxStore store() {
		return tested().store();
	}

	protected final long hash(String key) {
		return OrderedEvent.hash(this.topic, key);
	}

	protected final OrderedEvent event(String type) {
		return event(type, type.getBytes(StandardCharsets.UTF_8));
	}

	protected final OrderedEvent event(String type, byte[] payload) {
		return OrderedEvent
			.of(OutboxSamples.event(this.topic, type.substring(0, 1), type, payload, Map.of("trace", "of " + type)));
	}

	protected static EventLease lease() {
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
		List<OrderedEvent> events = Stream.of(types).map(this::event).toList();
		return inTransaction(() -> store().append(events));
	}

	/**
	 * Appends events with one lease and commits.
	 */
	protected final List<LeasedEvent> appendLeased(String... types) {
		EventLease lease = lease();
		List<OrderedEvent> events = Stream.of(types).map((type) -> event(type).leasedBy(lease)).toList();
		List<SerializedEvent> rows = inTransaction(() -> store().append(events));
		return IntStream.range(0, types.length)
			.mapToObj((i) -> new LeasedEvent(rows.get(i), lease.claimId(),
					new OrderedRow(events.get(i).keyHash(), rows.get(i).sequence())))
			.toList();
	}

	protected final List<LeasedEvent> claim(String... keys) {
		return claim(LIMITS, keys);
	}

	/**
	 * Claims keys, each with a lease of its own.
	 */
	protected final List<LeasedEvent> claim(KeyLimits limits, String... keys) {
		Map<Long, EventLease> leases = new LinkedHashMap<>();
		Stream.of(keys).forEach((key) -> leases.put(hash(key), lease()));
		List<LeasedEvent> claimed = store().claim(leases, limits);
		assertThat(claimed)
			.allSatisfy((event) -> assertThat(leases.get(event.keyHash()).claimId()).isEqualTo(event.claimId()));
		return claimed;
	}

	protected final Head head(String key) {
		return store().heads(List.of(hash(key))).get(hash(key));
	}

	protected final int postpone(List<LeasedEvent> events, Duration delay) {
		return store().postpone(events.stream().map((held) -> new FailedEvent(held, "broken", delay)).toList());
	}

	protected final int deadLetter(List<LeasedEvent> events) {
		return store().deadLetter(events.stream().map((held) -> new FailedEvent(held, "dead")).toList());
	}

	protected final int block(List<LeasedEvent> events) {
		return store().block(events.stream().map((held) -> new FailedEvent(held, "blocked")).toList());
	}

	protected final void passTime() {
		tested().passTime(this.topic);
	}

	protected final List<OrderedRowState> rows() {
		return tested().rows(this.topic);
	}

	protected final OrderedRowState row(String type) {
		return rows().stream().filter((row) -> row.event().type().equals(type)).findFirst().orElseThrow();
	}

	/**
	 * The stored types by key, in the order of their rows.
	 */
	protected final List<String> stored() {
		return rows().stream().map((row) -> row.event().type()).sorted().toList();
	}

	/**
	 * Types in the order of keys by name; the order within a key is kept.
	 */
	protected static List<String> types(List<LeasedEvent> events) {
		return events.stream()
			.map((held) -> held.event().type())
			.sorted((one, other) -> Character.compare(one.charAt(0), other.charAt(0)))
			.toList();
	}

	protected static List<LeasedEvent> all(List<LeasedEvent> some, List<LeasedEvent> others) {
		return Stream.concat(some.stream(), others.stream()).toList();
	}

}
