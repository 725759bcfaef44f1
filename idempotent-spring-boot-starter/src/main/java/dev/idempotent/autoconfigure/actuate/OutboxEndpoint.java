package dev.idempotent.autoconfigure.actuate;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

import dev.idempotent.outbox.DeadEvents;
import dev.idempotent.outbox.DeadEvents.DeadEvent;
import dev.idempotent.outbox.DeadEvents.DeadPage;
import dev.idempotent.outbox.EventFilter;
import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.OutboxTopics;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.TopicControl;
import dev.idempotent.outbox.jdbc.EventRow;
import dev.idempotent.outbox.jdbc.OutboxOperations;
import dev.idempotent.outbox.jdbc.OutboxOperations.EventCount;
import dev.idempotent.outbox.jdbc.OutboxOperations.ListedEvent;
import dev.idempotent.outbox.jdbc.OutboxOperations.OutboxBacklog;
import dev.idempotent.outbox.jdbc.OutboxOperations.OutboxSummary;
import dev.idempotent.outbox.jdbc.OutboxOperations.Page;
import dev.idempotent.outbox.jdbc.OutboxOperations.Position;
import dev.idempotent.outbox.jdbc.OutboxOperations.Queue;
import dev.idempotent.outbox.relay.OutboxRelay;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.dao.DataAccessException;

/**
 * The actuator's endpoint {@code outbox}. Shows no keys, and payloads only if a property
 * allows it.
 */
@WebEndpoint(id = "outbox")
@RegisterReflectionForBinding({ OutboxEndpoint.Overview.class, DeadEvent.class, ListedEvent.class,
		OutboxEndpoint.Circuit.class })
final class OutboxEndpoint extends OperatorEndpoint {

	private static final Logger logger = LoggerFactory.getLogger(OutboxEndpoint.class);

	private static final String RESOURCES = "GET /actuator/outbox/dead, pending, waiting, blocked, delayed, queue, "
			+ "payload or circuits";

	private static final String OPERATIONS = "POST /actuator/outbox/retry or discard (dead events), retry-blocked, "
			+ "skip-blocked, discard-blocked, skip-unserved, pause or resume";

	private static final int FORBIDDEN = 403;

	/**
	 * How many bytes of a payload are shown at most.
	 */
	private static final int MAX_PAYLOAD = 65_536;

	private final OutboxOperations operations;

	private final DeadEvents deadEvents;

	private final TopicControl control;

	private final OutboxTopics topics;

	private final Supplier<@Nullable OutboxRelay> relay;

	private final ApplicationEventPublisher publisher;

	private final Properties properties;

	/**
	 * Creates the endpoint.
	 * @param relay supplies {@code null} while the outbox is off
	 */
	OutboxEndpoint(OutboxOperations operations, DeadEvents deadEvents, TopicControl control, OutboxTopics topics,
			Supplier<@Nullable OutboxRelay> relay, ApplicationEventPublisher publisher, Properties properties) {
		this.operations = operations;
		this.deadEvents = deadEvents;
		this.control = control;
		this.topics = topics;
		this.relay = relay;
		this.publisher = publisher;
		this.properties = properties;
	}

	@ReadOperation
	WebEndpointResponse<?> summary() {
		return answer(() -> {
			OutboxRelay own = this.relay.get();
			OutboxBacklog backlog = (own != null && own.isRunning()) ? own.lastPass().orElse(null) : null;
			OutboxSummary others = this.operations.summary();
			return new Overview(backlog, others.delayed(), others.dead(), Relay.of(own));
		});
	}

	@ReadOperation
	WebEndpointResponse<?> list(@Selector String part, @Nullable String id, @Nullable String type,
			@Nullable String topic, @Nullable String state, @Nullable String after, @Nullable String limit,
			SecurityContext security) {
		return answer(() -> {
			if (part.equals("circuits")) {
				return Map.of("circuits", circuits());
			}
			EventFilter filter = filter(id, type, topic);
			int size = limit(limit);
			return switch (part) {
				case "dead" -> dead(filter, row(after), size);
				case "pending" -> page(part, this.operations.pending(filter, position(after), size));
				case "waiting" -> page(part, this.operations.waiting(filter, position(after), size));
				case "blocked" -> page(part, this.operations.blocked(filter, position(after), size));
				case "delayed" -> page(part, this.operations.delayed(filter, position(after), size));
				case "queue" -> queue(idAlone(filter), position(after), size);
				case "payload" -> payload(state, filter, after, security);
				default -> throw invalid("There is no resource of this name", RESOURCES);
			};
		});
	}

	private static @Nullable Position position(@Nullable String after) {
		try {
			return (after != null) ? Position.parse(after) : null;
		}
		catch (IllegalArgumentException ex) {
			throw invalid("The parameter 'after' is not the end of a page",
					"Specify the value of 'next' of the previous page");
		}
	}

	@WriteOperation
	WebEndpointResponse<?> change(@Selector String operation, @Nullable String id, @Nullable String type,
			@Nullable String topic, @Nullable Boolean all, @Nullable Long upTo, @Nullable String note,
			SecurityContext security) {
		return answer(() -> {
			requireInPath(operation);
			Change change = Change.of(operation);
			Map<String, Object> requested = new LinkedHashMap<>();
			putIfPresent(requested, "id", id);
			putIfPresent(requested, "type", type);
			putIfPresent(requested, "topic", topic);
			putIfPresent(requested, "all", all);
			putIfPresent(requested, "upTo", upTo);
			putIfPresent(requested, "note", note(note));
			if (upTo != null && !change.state.equals("dead")) {
				throw invalid("Only dead events can be changed up to a row", "Omit 'upTo'");
			}
			int number = audited(change, requested, security,
					change.ofTopic() ? () -> apply(change, topicAlone(id, type, topic, all))
							: () -> apply(change, filter(id, type, topic, all, upTo)));
			return Map.of(change.done, number);
		});
	}

	private static void putIfPresent(Map<String, Object> data, String name, @Nullable Object value) {
		if (value != null) {
			data.put(name, value);
		}
	}

	/**
	 * Publishes an audit event of a change, also after a failure: some events may have
	 * been changed before it.
	 */
	private int audited(Change change, Map<String, Object> data, SecurityContext security, IntSupplier step) {
		int number;
		try {
			number = step.getAsInt();
		}
		catch (DataAccessException ex) {
			data.put("outcome", UNKNOWN);
			audit(this.publisher, security, change.event, data);
			throw ex;
		}
		data.put("number", number);
		data.put("outcome", "DONE");
		audit(this.publisher, security, change.event, data);
		return number;
	}

	private Map<String, @Nullable Object> dead(EventFilter filter, long after, int size) {
		DeadPage page = this.deadEvents.list(filter, after, size);
		Map<String, @Nullable Object> answer = page("dead", page.events(), page.next());
		answer.put("newest", page.newest());
		return answer;
	}

	private Map<String, @Nullable Object> queue(UUID id, @Nullable Position after, int size) {
		Queue queue = this.operations.queue(id, after, size);
		if (queue == null) {
			throw absent("No event with this id waits in a queue",
					"Look it up with GET /actuator/outbox/dead or delayed: these events wait for nothing before them. "
							+ "It is in no list if it was delivered");
		}
		Map<String, @Nullable Object> answer = page("queue", queue.page());
		answer.put("head", queue.head());
		return answer;
	}

	private Map<String, Object> payload(@Nullable String state, EventFilter filter, @Nullable String after,
			SecurityContext security) {
		if (!this.properties.showPayloads().isShown(security, this.properties.roles())) {
			throw new Refusal(FORBIDDEN, "Payloads are not shown to this caller",
					"Set management.endpoint.outbox.show-payloads to 'always', or to 'when-authorized' with the roles of "
							+ "callers in management.endpoint.outbox.roles");
		}
		UUID id = idAlone(filter);
		String table = (state != null) ? state : "";
		EventRow read = read(table, id, after);
		if (read == null) {
			throw absent("No event with this id is in this state, or it is not among the first rows",
					"Look it up with GET /actuator/outbox/{state}, and specify the 'after' of the page that lists it");
		}
		if (read.problem() != null) {
			throw conflict(read.problem(), "Correct the cause: the event cannot be delivered either");
		}
		audit(this.publisher, security, "OUTBOX_PAYLOAD_READ",
				Map.of("id", id.toString(), "state", table, "row", read.event().sequence(), "outcome", "DONE"));
		return content(read.event());
	}

	private @Nullable EventRow read(String state, UUID id, @Nullable String after) {
		return switch (state) {
			case "pending", "waiting", "blocked" -> this.operations.readPending(id, position(after));
			case "delayed" -> this.operations.readDelayed(id, position(after));
			case "dead" -> this.operations.readDead(id, row(after));
			default -> throw invalid("The parameter 'state' is not the state of an event",
					"Set it to pending, waiting, blocked, delayed or dead");
		};
	}

	private static Map<String, Object> content(SerializedEvent event) {
		byte[] payload = event.payload();
		boolean truncated = payload.length > MAX_PAYLOAD;
		byte[] shown = truncated ? Arrays.copyOf(payload, MAX_PAYLOAD) : payload;
		Map<String, Object> answer = new LinkedHashMap<>();
		answer.put("id", event.id().toString());
		answer.put("row", event.sequence());
		answer.put("contentType", event.storedHeaders().getOrDefault(SerializedEvent.CONTENT_TYPE, ""));
		String text = text(shown, !truncated);
		answer.put((text != null) ? "text" : "base64",
				(text != null) ? text : Base64.getEncoder().encodeToString(shown));
		answer.put("truncated", truncated);
		return answer;
	}

	/**
	 * Returns bytes as text.
	 * @param complete whether the bytes do not end within a character
	 * @return {@code null} if they are not text in UTF-8
	 */
	private static @Nullable String text(byte[] bytes, boolean complete) {
		CharBuffer text = CharBuffer.allocate(bytes.length);
		if (StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes), text, complete).isError()) {
			return null;
		}
		text.flip();
		boolean binary = text.chars().anyMatch((each) -> Character.isISOControl(each) && !Character.isWhitespace(each));
		return binary ? null : text.toString();
	}

	private static UUID idAlone(EventFilter filter) {
		UUID id = filter.id();
		if (id == null || filter.type() != null || filter.topic() != null) {
			throw invalid("The request does not specify just an event", "Specify one 'id', and neither type nor topic");
		}
		return id;
	}

	/**
	 * Returns what is unavailable to an instance, and the paused topics.
	 */
	private List<Circuit> circuits() {
		List<Circuit> circuits = new ArrayList<>();
		OutboxRelay own = this.relay.get();
		if (own != null) {
			own.openCircuits()
				.forEach((open) -> circuits
					.add(new Circuit(open.publisher(), open.topic(), "unavailable", open.openFor(), open.nextProbe())));
		}
		this.control.paused()
			.forEach((paused) -> circuits.add(new Circuit(OutboxTopics.publisher(paused.topic()), paused.topic(),
					"paused", paused.pausedFor(), null)));
		return circuits;
	}

	private static Map<String, @Nullable Object> page(String state, Page page) {
		return page(state, page.events(), (page.next() != null) ? page.next().toString() : null);
	}

	/**
	 * Returns a page.
	 * @param next the {@code after} of the next page, or {@code null} on the last one
	 */
	private static Map<String, @Nullable Object> page(String state, List<?> events, @Nullable Object next) {
		Map<String, @Nullable Object> answer = new LinkedHashMap<>();
		answer.put(state, events);
		answer.put("next", next);
		return answer;
	}

	/**
	 * Wakes the relay even after a failure: some events may have been changed before it.
	 */
	private int apply(Change change, EventFilter filter) {
		try {
			int number = switch (change) {
				case RETRY -> this.deadEvents.retry(filter);
				case DISCARD -> this.deadEvents.discard(filter);
				case RETRY_BLOCKED -> this.operations.retryBlocked(filter);
				case SKIP_BLOCKED -> this.operations.skipBlocked(filter);
				case DISCARD_BLOCKED -> this.operations.discardBlocked(filter);
				case SKIP_UNSERVED, PAUSE, RESUME ->
					throw new IllegalArgumentException("Topics are not changed by a filter");
			};
			logger.info("An operator has {} {} {} events", change.done, number, change.state);
			return number;
		}
		finally {
			wakeRelay();
		}
	}

	private int apply(Change change, String topic) {
		return (change == Change.SKIP_UNSERVED) ? skipUnserved(topic) : pauseOrResume(change, topic);
	}

	/**
	 * An instance of another version may serve the topic, which only the operator knows.
	 */
	private int skipUnserved(String topic) {
		OutboxRelay own = this.relay.get();
		if (own == null || !own.isRunning()) {
			throw conflict("No relay runs in this process, so it is unknown whether the topic is served",
					"Send the request to an instance that delivers events");
		}
		if (own.serves(topic)) {
			throw conflict("This instance serves the topic", "Leave its events to it, or pause the topic");
		}
		int number = this.operations.skipUnserved(topic);
		logger.info("An operator has skipped {} events of the topic {}", number, topic);
		return number;
	}

	private int pauseOrResume(Change change, String topic) {
		boolean changed = (change == Change.PAUSE) ? pause(topic) : this.control.resume(topic);
		OutboxRelay own = this.relay.get();
		if (own != null && own.isRunning()) {
			own.refreshPausedTopics();
		}
		if (changed) {
			logger.info("An operator has {} the topic {}", change.done, topic);
		}
		return changed ? 1 : 0;
	}

	/**
	 * Pauses a topic of a publisher of this application. Its destination is not checked.
	 */
	private boolean pause(String topic) {
		if (!this.topics.serves(topic)) {
			throw invalid("No publisher of this application serves the topic",
					"Specify a topic as <publisher>:<destination>, with one of: " + String.join(", ",
							this.topics.publishers().stream().map(OutboxPublisher::prefix).toList()));
		}
		try {
			return this.control.pause(topic);
		}
		catch (IllegalArgumentException ex) {
			throw invalid("The parameter 'topic' is not a topic", String.valueOf(ex.getMessage()));
		}
		catch (IllegalStateException ex) {
			throw invalid(String.valueOf(ex.getMessage()), "Resume some of them first");
		}
	}

	/**
	 * A relay that is switched off must not be woken, because that would start it.
	 */
	private void wakeRelay() {
		OutboxRelay own = this.relay.get();
		if (own != null && own.isRunning()) {
			own.wake();
		}
	}

	/**
	 * Reads which events to change. All events of a state are changed only if the request
	 * has {@code all=true}.
	 */
	private static EventFilter filter(@Nullable String id, @Nullable String type, @Nullable String topic,
			@Nullable Boolean all, @Nullable Long upTo) {
		EventFilter filter = filter(id, type, topic);
		boolean everything = Boolean.TRUE.equals(all);
		if (!everything && filter.equals(EventFilter.ALL)) {
			throw invalid("The request does not specify which events",
					"Specify id, type or topic, or all=true for all of them");
		}
		if (everything && !filter.equals(EventFilter.ALL)) {
			throw invalid("The request specifies both all events and some of them",
					"Specify either all=true, or id, type or topic");
		}
		return new EventFilter(filter.id(), filter.type(), filter.topic(), upTo);
	}

	private static EventFilter filter(@Nullable String id, @Nullable String type, @Nullable String topic) {
		return new EventFilter((id != null) ? id(id) : null, stated("type", type), stated("topic", topic));
	}

	private static UUID id(String id) {
		try {
			return UUID.fromString(id);
		}
		catch (IllegalArgumentException ex) {
			throw invalid("The parameter 'id' is not a UUID",
					"Specify the id of an event as the lists of the endpoint show it");
		}
	}

	private static String topicAlone(@Nullable String id, @Nullable String type, @Nullable String topic,
			@Nullable Boolean all) {
		if (topic == null || id != null || type != null || all != null) {
			throw invalid("The request does not specify just a topic", "Specify one topic, and nothing else");
		}
		return Objects.requireNonNull(stated("topic", topic));
	}

	private static long row(@Nullable String after) {
		return number("after", after, 0, 0, Long.MAX_VALUE);
	}

	@Override
	@Nullable Refusal refusal(RuntimeException failure) {
		return ofDatabase(failure, "Check that the database is reachable and has the outbox tables, then retry");
	}

	/**
	 * Properties of the outbox endpoint.
	 *
	 * @param showPayloads When to show payloads of events.
	 * @param roles Roles that callers need one of to be shown payloads. When empty, all
	 * authenticated callers are authorized.
	 */
	@ConfigurationProperties("management.endpoint.outbox")
	record Properties(@DefaultValue("never") Show showPayloads, @DefaultValue Set<String> roles) {
	}

	/**
	 * What an operator can change.
	 */
	private enum Change {

		RETRY("retried", "dead", "OUTBOX_EVENTS_RETRIED"), DISCARD("discarded", "dead", "OUTBOX_EVENTS_DISCARDED"),
		RETRY_BLOCKED("retried", "blocked", "OUTBOX_BLOCKED_RETRIED"),
		SKIP_BLOCKED("skipped", "blocked", "OUTBOX_BLOCKED_SKIPPED"),
		DISCARD_BLOCKED("discarded", "blocked", "OUTBOX_BLOCKED_DISCARDED"),
		SKIP_UNSERVED("skipped", "", "OUTBOX_UNSERVED_SKIPPED"), PAUSE("paused", "", "OUTBOX_TOPIC_PAUSED"),
		RESUME("resumed", "", "OUTBOX_TOPIC_RESUMED");

		private final String done;

		private final String state;

		private final String event;

		/**
		 * Creates a change.
		 * @param done what the answer calls it
		 * @param state the state of the events that it changes, or empty for topics
		 * @param event the type of its audit event
		 */
		Change(String done, String state, String event) {
			this.done = done;
			this.state = state;
			this.event = event;
		}

		static Change of(String operation) {
			return Arrays.stream(values())
				.filter((change) -> change.name().toLowerCase(Locale.ROOT).replace('_', '-').equals(operation))
				.findFirst()
				.orElseThrow(() -> invalid("There is no operation of this name", OPERATIONS));
		}

		boolean ofTopic() {
			return this.state.isEmpty();
		}

	}

	/**
	 * The state of the outbox.
	 *
	 * @param backlog what the relay of this instance found in its last scan, or
	 * {@code null} if it has not scanned the table
	 * @param delayed the events for later, the same for all instances
	 * @param dead the dead events, the same for all instances
	 * @param relay the relay of this instance
	 */
	record Overview(@Nullable OutboxBacklog backlog, EventCount delayed, EventCount dead, Relay relay) {
	}

	record Relay(boolean running, List<String> unavailablePublishers, List<String> unavailableDestinations,
			List<String> pausedTopics) {

		static Relay of(@Nullable OutboxRelay relay) {
			return (relay == null) ? new Relay(false, List.of(), List.of(), List.of())
					: new Relay(relay.isRunning(), List.copyOf(relay.unavailablePublishers()),
							List.copyOf(relay.unavailableDestinations()), List.copyOf(relay.pausedTopics()));
		}

	}

	/**
	 * A publisher or topic that gets no events.
	 *
	 * @param topic the topic, or {@code null} for the whole publisher
	 * @param state {@code unavailable} or {@code paused}
	 * @param since how long ago this began
	 * @param nextProbe how long until the next probe, or {@code null} if there is none
	 */
	record Circuit(String publisher, @Nullable String topic, String state, Duration since,
			@Nullable Duration nextProbe) {
	}

}
