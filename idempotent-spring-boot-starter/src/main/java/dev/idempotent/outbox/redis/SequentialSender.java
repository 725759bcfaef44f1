package dev.idempotent.outbox.redis;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.Outcome.Scope;
import dev.idempotent.outbox.SerializedEvent;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Sends one event after the other with any Redis client. Skips what is behind an event of
 * the same key that was not confirmed, and the remaining events of
 * the server, or in a Cluster of the destination, after the first failure to reach it:
 * each would cost a timeout.
 */
final class SequentialSender implements EventSender {

	/**
	 * Stands for all destinations, none of which is blank.
	 */
	private static final String ALL = "";

	private static final Outcome UNSENT = new Outcome.Unavailable("An earlier event of its key was not sent",
			Scope.DESTINATION);

	private final RedisConnectionFactory application;

	private final EventCommand command;

	SequentialSender(RedisConnectionFactory application, EventCommand command) {
		this.application = application;
		this.command = command;
	}

	@Override
	public List<Outcome> send(List<SerializedEvent> events) {
		Outcome[] outcomes = new Outcome[events.size()];
		Map<String, Outcome.Unavailable> unavailable = new HashMap<>();
		Set<List<String>> stopped = new HashSet<>();
		for (int i = 0; i < outcomes.length; i++) {
			String destination = events.get(i).destination();
			String key = this.command.keepsOrder() ? events.get(i).key() : null;
			List<String> run = (key != null) ? List.of(destination, key) : List.of();
			Outcome known = stopped.contains(run) ? UNSENT
					: unavailable.getOrDefault(ALL, unavailable.get(destination));
			outcomes[i] = (known != null) ? known : send(events.get(i));
			if (!run.isEmpty() && !(outcomes[i] instanceof Outcome.Delivered)) {
				stopped.add(run);
			}
			if (outcomes[i] instanceof Outcome.Unavailable outcome && outcome != UNSENT) {
				unavailable.put((outcome.scope() == Scope.PUBLISHER) ? ALL : destination, outcome);
			}
		}
		return List.of(outcomes);
	}

	private Outcome send(SerializedEvent event) {
		Scope scope = Scope.PUBLISHER;
		try (RedisConnection connection = this.application.getConnection()) {
			boolean cluster = connection instanceof RedisClusterConnection;
			scope = cluster ? Scope.DESTINATION : Scope.PUBLISHER;
			Object reply = this.command.execute(connection, event);
			this.command.confirmed(event, reply, cluster);
			return FailureOutcomes.replied(reply);
		}
		catch (DataAccessException ex) {
			return FailureOutcomes.of(ex, scope);
		}
	}

}
