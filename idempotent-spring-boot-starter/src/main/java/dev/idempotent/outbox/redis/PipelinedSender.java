package dev.idempotent.outbox.redis;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.Outcome.Scope;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.redis.DedicatedRedisConnection;
import dev.idempotent.redis.DedicatedRedisConnections;
import io.lettuce.core.RedisException;

/**
 * Sends each batch on a connection that no other batch is using, and keeps the connection
 * for the next one.
 */
final class PipelinedSender implements EventSender {

	private final DedicatedRedisConnections connections;

	private final EventCommand command;

	private final ReplicaConfirmation confirmation;

	PipelinedSender(DedicatedRedisConnections connections, EventCommand command, ReplicaConfirmation confirmation) {
		this.connections = connections;
		this.command = command;
		this.confirmation = confirmation;
	}

	@Override
	public List<Outcome> send(List<SerializedEvent> events) {
		long start = System.nanoTime();
		try {
			PipelinedBatch batch = new PipelinedBatch(events, this.command, this.confirmation);
			DedicatedRedisConnection connection = this.connections.borrow();
			try {
				batch.send(connection);
				return batch.await(start + this.connections.timeout().toNanos());
			}
			finally {
				this.connections.giveBack(connection, batch.isConnectionReusable());
			}
		}
		catch (RedisException ex) {
			return new ArrayList<>(
					Collections.nCopies(events.size(), FailureOutcomes.unreachable(ex, Scope.PUBLISHER)));
		}
	}

}
