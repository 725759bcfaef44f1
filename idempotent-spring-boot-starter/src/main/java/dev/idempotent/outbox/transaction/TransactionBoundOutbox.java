package dev.idempotent.outbox.transaction;

import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.OutboxHeaderContributor;
import dev.idempotent.outbox.OutboxTopics;
import dev.idempotent.outbox.OutboxTransactionException;
import dev.idempotent.outbox.PayloadWriter;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.jdbc.NewEvent;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Appends events to the calling thread's transaction.
 */
public final class TransactionBoundOutbox implements Outbox {

	private static final int MAX_LENGTH = 255;

	/**
	 * Below the limits of the databases for a point in time.
	 */
	private static final Duration MAX_DELAY = Duration.ofDays(36_500);

	private final OutboxTopics topics;

	private final PayloadWriter payloads;

	private final String source;

	private final List<OutboxHeaderContributor> contributors;

	private final InstantSource clock;

	private final OutboxTransactions transactions;

	private final boolean keysOrder;

	private final SecureRandom random = new SecureRandom();

	/**
	 * Creates an outbox.
	 * @param topics the topics that events can be sent to
	 * @param payloads serializes payloads
	 * @param source the {@code source} of the CloudEvents, a URI reference
	 * @param contributors add headers to each event, such as the headers of a trace
	 * @param clock the time of the append, for the consumers of an event only
	 * @param transactions finds the events of transactions
	 * @param keysOrder whether the key of an event orders it
	 */
	public TransactionBoundOutbox(OutboxTopics topics, PayloadWriter payloads, String source,
			List<OutboxHeaderContributor> contributors, InstantSource clock, OutboxTransactions transactions,
			boolean keysOrder) {
		this.topics = topics;
		this.payloads = payloads;
		this.source = source;
		this.contributors = contributors;
		this.clock = clock;
		this.transactions = transactions;
		this.keysOrder = keysOrder;
	}

	@Override
	public void append(Collection<OutboxEvent> events) {
		EventsOfTransaction transaction = requireEvents();
		if (!events.isEmpty()) {
			transaction.writeEntities(events);
			Instant now = this.clock.instant().truncatedTo(ChronoUnit.MILLIS);
			transaction.add(events.stream().flatMap((event) -> serialize(event, now)).toList());
		}
	}

	@Override
	public void requireTransaction() {
		requireEvents().watch();
	}

	private EventsOfTransaction requireEvents() {
		EventsOfTransaction joined = this.transactions.current();
		if (!TransactionSynchronizationManager.isActualTransactionActive()) {
			throw new OutboxTransactionException("There is no transaction for the event to commit with: "
					+ "make the method @Transactional, or use a TransactionTemplate");
		}
		if (!TransactionSynchronizationManager.isSynchronizationActive() || (joined != null && joined.isCommitted())) {
			throw new OutboxTransactionException("The transaction has ended, so an event can no longer commit with it: "
					+ "append before the commit, or in a transaction of its own (Propagation.REQUIRES_NEW)");
		}
		if (joined == null) {
			throw new OutboxTransactionException("The transaction is not on the outbox's database: append in one whose "
					+ "manager is for the DataSource of the outbox (the primary one, of several)");
		}
		if (TransactionSynchronizationManager.isCurrentTransactionReadOnly()) {
			throw new OutboxTransactionException(
					"The transaction is read-only, so an event cannot commit with it: leave out readOnly = true");
		}
		return joined;
	}

	/**
	 * Serializes an event for each of its topics, each time as an event of its own.
	 */
	private Stream<NewEvent> serialize(OutboxEvent event, Instant now) {
		boolean ordered = this.keysOrder && event.key() != null && !event.isUnordered();
		checkTime(event, ordered, now);
		checkText("type", event.type());
		checkText("key", event.key());
		List<String> topics = this.topics.resolve(event.topic(), event.type());
		topics.forEach((topic) -> checkText("topic", topic));
		Map<String, String> headers = headers(event, now);
		checkText("content-type", headers.get(SerializedEvent.CONTENT_TYPE));
		headers.keySet().forEach((name) -> checkText("name of a header", name));
		byte[] payload = payload(event);
		return topics.stream()
			.map((topic) -> new SerializedEvent(newId(now), 0, topic, event.key(), event.type(), payload, headers, 0))
			.map((serialized) -> new NewEvent(serialized, ordered, event.availableAt()));
	}

	/**
	 * A UUID of version 7: ids of later milliseconds are larger.
	 */
	private UUID newId(Instant now) {
		long high = (now.toEpochMilli() << 16) | 0x7000L | this.random.nextInt(0x1000);
		return new UUID(high, (this.random.nextLong() & 0x3fffffffffffffffL) | 0x8000000000000000L);
	}

	private static void checkTime(OutboxEvent event, boolean ordered, Instant now) {
		if (event.availableAt() == null) {
			return;
		}
		if (ordered) {
			throw new IllegalArgumentException("An event that its key orders cannot be available at a later time, "
					+ "because it would delay the later events of the key: make it unordered(), or omit availableAt");
		}
		if (event.availableAt().isAfter(now.plus(MAX_DELAY))) {
			throw new IllegalArgumentException("The time at which the event is available is more than "
					+ MAX_DELAY.toDays() + " days from now, the maximum");
		}
	}

	/**
	 * Fails at the append rather than at the commit.
	 */
	private static void checkText(String what, @Nullable String value) {
		if (value != null && value.length() > MAX_LENGTH) {
			throw new IllegalArgumentException(
					"The event's %s has %d characters; the maximum is %d".formatted(what, value.length(), MAX_LENGTH));
		}
		if (value != null && value.indexOf('\0') >= 0) {
			throw new IllegalArgumentException(
					"The event's %s contains the character NUL (U+0000), which PostgreSQL cannot store: leave it out"
						.formatted(what));
		}
		if (value != null && !StandardCharsets.UTF_8.newEncoder().canEncode(value)) {
			throw new IllegalArgumentException(("The event's %s contains half of a character (an unpaired surrogate), "
					+ "which databases and brokers replace: do not cut a text within a character")
				.formatted(what));
		}
	}

	private byte[] payload(OutboxEvent event) {
		return (event.payload() instanceof byte[] bytes) ? bytes.clone() : this.payloads.write(event.payload());
	}

	private Map<String, String> headers(OutboxEvent event, Instant now) {
		Map<String, String> headers = new LinkedHashMap<>();
		headers.put("ce_source", this.source);
		headers.put("ce_time", now.toString());
		headers.put(SerializedEvent.CONTENT_TYPE,
				(event.payload() instanceof byte[]) ? "application/octet-stream" : "application/json");
		this.contributors.forEach((each) -> each.contribute(headers::put));
		headers.putAll(event.headers());
		return headers;
	}

}
