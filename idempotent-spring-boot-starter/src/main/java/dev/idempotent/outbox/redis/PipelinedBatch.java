package dev.idempotent.outbox.redis;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import dev.idempotent.lettuce.DedicatedRedisConnection;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.Outcome.Scope;
import dev.idempotent.outbox.SerializedEvent;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import org.jspecify.annotations.Nullable;

/**
 * The pipelined commands for a batch of events, and their replies.
 */
final class PipelinedBatch {

	private static final ByteArrayCodec CODEC = ByteArrayCodec.INSTANCE;

	private final PipelineOptions options;

	private final List<AsyncCommand<byte[], byte[], ?>> additions;

	private final Map<String, List<AsyncCommand<byte[], byte[], ?>>> byDestination = new LinkedHashMap<>();

	private final @Nullable AsyncCommand<byte[], byte[], Long> confirmation;

	/**
	 * In a Cluster, other streams may be on other nodes.
	 */
	private final Scope scope;

	private boolean reusable = true;

	PipelinedBatch(List<SerializedEvent> events, PipelineOptions options, boolean cluster) {
		this.options = options;
		this.scope = cluster ? Scope.DESTINATION : Scope.PUBLISHER;
		this.additions = new ArrayList<>(events.size());
		for (SerializedEvent event : events) {
			AsyncCommand<byte[], byte[], String> addition = addition(event);
			this.additions.add(addition);
			this.byDestination.computeIfAbsent(event.destination(), (destination) -> new ArrayList<>()).add(addition);
		}
		this.confirmation = options.waitsForReplicas() ? confirmation() : null;
	}

	void send(DedicatedRedisConnection connection) {
		if (this.scope == Scope.DESTINATION) {
			// In a Cluster, one node may be unavailable while the others are not.
			this.byDestination.values().forEach((commands) -> send(connection, commands));
			return;
		}
		List<AsyncCommand<byte[], byte[], ?>> commands = new ArrayList<>(this.additions);
		if (this.confirmation != null) {
			commands.add(this.confirmation);
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
	List<Outcome> await(long deadline) {
		List<Outcome> outcomes = new ArrayList<>(this.additions.size());
		this.additions.forEach((addition) -> outcomes.add(outcome(addition, deadline)));
		Outcome unconfirmed = (this.confirmation != null) ? unconfirmed(this.confirmation, deadline) : null;
		if (unconfirmed != null) {
			outcomes.replaceAll((outcome) -> (outcome instanceof Outcome.Delivered) ? unconfirmed : outcome);
		}
		return outcomes;
	}

	/**
	 * Whether every command received its reply from a server that accepts writes, so that
	 * the connection can be reused.
	 */
	boolean isConnectionReusable() {
		return this.reusable;
	}

	private Outcome outcome(AsyncCommand<byte[], byte[], ?> addition, long deadline) {
		Throwable failure = failureOf(addition, deadline);
		return (failure != null) ? FailureOutcomes.of(failure, this.scope) : new Outcome.Delivered();
	}

	private @Nullable Outcome unconfirmed(AsyncCommand<byte[], byte[], Long> confirmation, long deadline) {
		Throwable failure = failureOf(confirmation, deadline);
		if (failure != null) {
			return new Outcome.Unavailable("Redis did not report which replicas have the entries (%s)"
				.formatted(FailureOutcomes.codeOrClass(failure)));
		}
		long confirmed = confirmation.join();
		return (confirmed >= this.options.waitReplicas()) ? null
				: new Outcome.Unavailable(
						"%d of the %d replicas that idempotent.outbox.redis.wait-replicas requires confirmed within %s"
							.formatted(confirmed, this.options.waitReplicas(), this.options.waitTimeout()));
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
		this.reusable &= failure == null || FailureOutcomes.isConnectionReusable(failure);
		return failure;
	}

	private AsyncCommand<byte[], byte[], String> addition(SerializedEvent event) {
		CommandArgs<byte[], byte[]> args = new CommandArgs<>(CODEC).addKey(EntryFields.bytes(event.destination()));
		Long maxLength = this.options.maxLength();
		if (maxLength != null) {
			args.add("MAXLEN").add("~").add(maxLength.longValue());
		}
		args.add("*");
		EntryFields.forEach(event, (name, value) -> args.add(name).add(value));
		return new AsyncCommand<>(new Command<>(CommandType.XADD, new StatusOutput<>(CODEC), args));
	}

	private AsyncCommand<byte[], byte[], Long> confirmation() {
		CommandArgs<byte[], byte[]> args = new CommandArgs<>(CODEC).add(this.options.waitReplicas())
			.add(this.options.waitTimeout().toMillis());
		return new AsyncCommand<>(new Command<>(CommandType.WAIT, new IntegerOutput<>(CODEC), args));
	}

}
