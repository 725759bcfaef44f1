package dev.idempotent.autoconfigure.operations;

import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import dev.idempotent.outbox.DeadEvents.DeadEvent;
import dev.idempotent.outbox.DeadEvents;
import dev.idempotent.outbox.DeadEvents.DeadFilter;
import dev.idempotent.outbox.OutboxSummary;
import dev.idempotent.outbox.jdbc.JdbcOutboxReader;
import dev.idempotent.outbox.relay.OutboxRelay;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.dao.DataAccessException;

/**
 * The actuator's endpoint {@code outbox}. Shows neither payloads nor keys.
 */
@WebEndpoint(id = "outbox")
@RegisterReflectionForBinding({ OutboxEndpoint.Overview.class, OutboxEndpoint.Page.class, OutboxEndpoint.Problem.class,
		OutboxLists.Entry.class, OutboxLists.Circuit.class })
final class OutboxEndpoint {

	private static final Logger logger = LoggerFactory.getLogger(OutboxEndpoint.class);

	private static final String RESOURCES = "GET /actuator/outbox/dead, pending, waiting, ordered, blocked or circuits";

	private static final String OPERATIONS = "POST /actuator/outbox/retry or discard (dead events), retry-blocked, "
			+ "skip-blocked, discard-blocked, pause or resume";

	private final JdbcOutboxReader reader;

	private final DeadEvents deadEvents;

	private final OutboxLists lists;

	private final OutboxOperator operator;

	private final Supplier<@Nullable OutboxRelay> relay;

	/**
	 * Creates the endpoint.
	 * @param relay supplies {@code null} while the outbox is off
	 */
	OutboxEndpoint(JdbcOutboxReader reader, DeadEvents deadEvents, OutboxLists lists, OutboxOperator operator,
			Supplier<@Nullable OutboxRelay> relay) {
		this.reader = reader;
		this.deadEvents = deadEvents;
		this.lists = lists;
		this.operator = operator;
		this.relay = relay;
	}

	@ReadOperation
	WebEndpointResponse<?> summary() {
		return answer(() -> new Overview(this.reader.read(), Relay.of(this.relay.get())));
	}

	@ReadOperation
	WebEndpointResponse<?> list(@Selector String part, @Nullable String id, @Nullable String type,
			@Nullable String topic, @Nullable String after, @Nullable String limit) {
		return answer(() -> {
			if (part.equals("circuits")) {
				return Map.of("circuits", this.lists.circuits(this.relay.get()));
			}
			DeadFilter filter = OutboxRequest.filter(id, type, topic);
			int size = OutboxRequest.limit(limit);
			return part.equals("dead") ? dead(filter, OutboxRequest.after(after), size)
					: known(this.lists.page(part, filter, after, size), "resource", RESOURCES);
		});
	}

	@WriteOperation
	WebEndpointResponse<?> change(@Selector String operation, @Nullable String id, @Nullable String type,
			@Nullable String topic, @Nullable Boolean all) {
		return answer(() -> switch (operation) {
			case "pause" -> this.operator.pause(OutboxRequest.topic(id, type, topic, all));
			case "resume" -> this.operator.resume(OutboxRequest.topic(id, type, topic, all));
			default -> known(this.operator.change(operation, () -> OutboxRequest.filter(id, type, topic, all)),
					"operation", OPERATIONS);
		});
	}

	private Page dead(DeadFilter filter, long after, int size) {
		List<DeadEvent> page = this.deadEvents.list(filter, after, size);
		return new Page(page, (page.size() == size) ? page.get(size - 1).row() : null);
	}

	private static <T> T known(@Nullable T answer, String what, String names) {
		if (answer == null) {
			throw new OutboxRequestException("There is no " + what + " of this name", names);
		}
		return answer;
	}

	private static WebEndpointResponse<?> answer(Supplier<?> work) {
		try {
			return new WebEndpointResponse<>(work.get());
		}
		catch (OutboxRequestException ex) {
			return new WebEndpointResponse<>(new Problem(ex.getMessage(), ex.action()),
					WebEndpointResponse.STATUS_BAD_REQUEST);
		}
		catch (DataAccessException ex) {
			logger.debug("The outbox endpoint could not read or change the database", ex);
			return new WebEndpointResponse<>(
					new Problem("The database failed: " + ex.getClass().getSimpleName(),
							"Check that the database is reachable and has the outbox tables, then retry"),
					WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE);
		}
	}

	/**
	 * The state of the outbox.
	 *
	 * @param events in the database, the same for all instances
	 * @param relay the relay of this instance
	 */
	record Overview(OutboxSummary events, Relay relay) {
	}

	record Relay(boolean running, int queued, List<String> unavailablePublishers, List<String> unavailableDestinations,
			List<String> pausedTopics) {

		static Relay of(@Nullable OutboxRelay relay) {
			return (relay == null) ? new Relay(false, 0, List.of(), List.of(), List.of())
					: new Relay(relay.isRunning(), relay.queued(), List.copyOf(relay.unavailablePublishers()),
							List.copyOf(relay.unavailableDestinations()), List.copyOf(relay.pausedTopics()));
		}

	}

	/**
	 * A page of dead events.
	 *
	 * @param next the {@code after} of the next page, or {@code null} on the last one
	 */
	record Page(List<DeadEvent> dead, @Nullable Long next) {
	}

	record Problem(String problem, String action) {
	}

}
