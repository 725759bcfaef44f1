package dev.idempotent.outbox.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import dev.idempotent.outbox.Outcome.Scope;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.redis.DedicatedRedisConnections.DedicatedRedisConnection;
import dev.idempotent.redis.DedicatedRedisConnections;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import io.lettuce.core.protocol.AsyncCommand;
import org.jspecify.annotations.Nullable;

/**
 * The pipelined commands for a batch of events, and their replies.
 */
final class PipelinedBatch {

	static final Outcome UNSENT = new Outcome.Unavailable("An earlier event of its key was not added",
			Scope.DESTINATION);

	private static final Outcome REPLICA = new Outcome.Unavailable("The Redis server is a replica");

	private final EventCommand command;

	private final List<SerializedEvent> events;

	private final Map<List<Integer>, AsyncCommand<byte[], byte[], ?>> publications = new LinkedHashMap<>();

	private final Map<String, List<AsyncCommand<byte[], byte[], ?>>> byDestination = new LinkedHashMap<>();

	private final int replicas;

	private final Duration waitTimeout;

	private final @Nullable AsyncCommand<byte[], byte[], Long> confirmation;

	/**
	 * Asks whether the server is a replica, if that would accept the commands, too. After
	 * a failover behind one address, an open connection still leads to the old master.
	 */
	private final @Nullable AsyncCommand<byte[], byte[], List<Object>> role;

	/**
	 * In a Cluster, other destinations may be on other nodes.
	 */
	private Scope scope = Scope.PUBLISHER;

	/**
	 * Whether every command received its reply from a server that accepts writes.
	 */
	private boolean reusable = true;

	private PipelinedBatch(List<SerializedEvent> events, EventCommand command, int replicas, Duration waitTimeout) {
		this.events = events;
		this.command = command;
		this.replicas = replicas;
		this.waitTimeout = waitTimeout;
		for (List<Integer> positions : runs()) {
			SerializedEvent first = events.get(positions.get(0));
			AsyncCommand<byte[], byte[], ?> publication = (positions.size() == 1) ? command.pipelined(first)
					: command.pipelined(positions.stream().map(events::get).toList());
			this.publications.put(positions, publication);
			this.byDestination.computeIfAbsent(first.destination(), (destination) -> new ArrayList<>())
				.add(publication);
		}
		this.confirmation = (replicas > 0) ? LettuceCommands.wait(replicas, waitTimeout) : null;
		this.role = command.isAcceptedByReplicas() ? LettuceCommands.hello() : null;
	}

	/**
	 * The positions of the events of each command, in the order of their first events.
	 */
	private Collection<List<Integer>> runs() {
		Map<Object, List<Integer>> runs = new LinkedHashMap<>();
		for (int i = 0; i < this.events.size(); i++) {
			SerializedEvent event = this.events.get(i);
			Object run = (event.key() != null && this.command.keepsOrder()) ? List.of(event.destination(), event.key())
					: i;
			runs.computeIfAbsent(run, (key) -> new ArrayList<>()).add(i);
		}
		return runs.values();
	}

	/**
	 * Sends a batch, with one timeout for all replies.
	 */
	static List<Outcome> send(DedicatedRedisConnections connections, List<SerializedEvent> events, EventCommand command,
			int replicas, Duration waitTimeout) {
		long deadline = System.nanoTime() + connections.timeout().toNanos();
		try {
			PipelinedBatch batch = new PipelinedBatch(events, command, replicas, waitTimeout);
			DedicatedRedisConnection connection = connections.borrow();
			try {
				batch.send(connection);
				return batch.await(deadline);
			}
			finally {
				connections.giveBack(connection, batch.reusable);
			}
		}
		catch (RedisException ex) {
			return new ArrayList<>(Collections.nCopies(events.size(), RedisFailures.unreachable(ex, Scope.PUBLISHER)));
		}
	}

	private void send(DedicatedRedisConnection connection) {
		if (connection.isCluster()) {
			this.scope = Scope.DESTINATION;
			// In a Cluster, one node may be unavailable while the others are not.
			this.byDestination.values().forEach((commands) -> send(connection, commands));
			return;
		}
		List<AsyncCommand<byte[], byte[], ?>> commands = new ArrayList<>(this.publications.values());
		if (this.confirmation != null) {
			commands.add(this.confirmation);
		}
		if (this.role != null) {
			commands.add(this.role);
		}
		send(connection, commands);
	}

	private static void send(DedicatedRedisConnection connection, List<AsyncCommand<byte[], byte[], ?>> commands) {
		try {
			connection.dispatch(commands);
		}
		catch (RedisException ex) {
			commands.forEach((command) -> command.completeExceptionally(ex));
		}
	}

	/**
	 * Waits for all replies.
	 * @param deadline in terms of {@link System#nanoTime()}
	 */
	private List<Outcome> await(long deadline) {
		List<Outcome> outcomes = new ArrayList<>(Collections.nCopies(this.events.size(), UNSENT));
		this.publications.forEach((positions, publication) -> {
			if (positions.size() > 1) {
				setOutcomes(positions, publication, deadline, outcomes);
			}
			else {
				int position = positions.get(0);
				outcomes.set(position, outcome(this.events.get(position), publication, deadline));
			}
		});
		Outcome unconfirmed = (this.confirmation != null) ? unconfirmed(this.confirmation, deadline) : null;
		if (unconfirmed != null) {
			outcomes.replaceAll((outcome) -> (outcome instanceof Outcome.Delivered) ? unconfirmed : outcome);
		}
		if (this.role != null && this.scope == Scope.PUBLISHER && isReplica(this.role, deadline)) {
			this.reusable = false;
			outcomes.replaceAll((outcome) -> (outcome instanceof Outcome.Delivered) ? REPLICA : outcome);
		}
		return outcomes;
	}

	private Outcome outcome(SerializedEvent event, AsyncCommand<byte[], byte[], ?> publication, long deadline) {
		Throwable failure = failureOf(publication, deadline);
		if (failure != null) {
			return RedisFailures.of(failure, this.scope);
		}
		Object reply = publication.join();
		this.command.confirmed(event, reply, this.scope == Scope.DESTINATION);
		return RedisFailures.replied(reply);
	}

	/**
	 * Sets the outcomes of a run up to the first event that was not added.
	 */
	private void setOutcomes(List<Integer> positions, AsyncCommand<byte[], byte[], ?> run, long deadline,
			List<Outcome> outcomes) {
		Throwable failure = failureOf(run, deadline);
		int added = 0;
		if (failure == null && run.join() instanceof List<?> reply) {
			added = ((Long) reply.get(0)).intValue();
			failure = new RedisCommandExecutionException(new String((byte[]) reply.get(1), StandardCharsets.UTF_8));
		}
		for (int i = 0; i < added; i++) {
			outcomes.set(positions.get(i), new Outcome.Delivered());
		}
		if (added < positions.size() && failure != null) {
			this.reusable &= RedisFailures.isConnectionReusable(failure);
			outcomes.set(positions.get(added), RedisFailures.of(failure, this.scope));
		}
	}

	private @Nullable Outcome unconfirmed(AsyncCommand<byte[], byte[], Long> confirmation, long deadline) {
		Throwable failure = failureOf(confirmation, deadline);
		if (failure != null) {
			return new Outcome.Unavailable("Redis did not report which replicas have the events (%s)"
				.formatted(RedisFailures.codeOrClass(failure)));
		}
		long confirmed = confirmation.join();
		return (confirmed >= this.replicas) ? null
				: new Outcome.Unavailable(
						"%d of the %d replicas that idempotent.outbox.redis.wait-replicas requires confirmed within %s"
							.formatted(confirmed, this.replicas, this.waitTimeout));
	}

	private @Nullable Throwable failureOf(AsyncCommand<byte[], byte[], ?> command, long deadline) {
		Throwable failure = null;
		try {
			command.get(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException ex) {
			failure = (ex.getCause() != null) ? ex.getCause() : ex;
		}
		catch (TimeoutException ex) {
			failure = new RedisCommandTimeoutException("No reply in time");
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			failure = new RedisException("Interrupted", ex);
		}
		this.reusable &= failure == null || RedisFailures.isConnectionReusable(failure);
		return failure;
	}

	/**
	 * Returns {@code false} also for a server that does not say so.
	 * @param deadline in terms of {@link System#nanoTime()}
	 */
	private static boolean isReplica(AsyncCommand<byte[], byte[], List<Object>> role, long deadline) {
		try {
			List<Object> reply = role.get(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
			return reply.stream().anyMatch(PipelinedBatch::isReplica);
		}
		catch (ExecutionException | TimeoutException ex) {
			return false;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
	}

	/**
	 * The role is the only property with this value.
	 */
	private static boolean isReplica(Object value) {
		return value instanceof byte[] bytes && new String(bytes, StandardCharsets.US_ASCII).equals("replica");
	}

}
