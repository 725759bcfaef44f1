package dev.idempotent.outbox.redis;

import java.util.function.Consumer;

import dev.idempotent.outbox.SerializedEvent;
import io.lettuce.core.protocol.AsyncCommand;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnection;

/**
 * Publishes an event to a channel.
 *
 * @param unreceived accepts the events that no client has received
 */
record ChannelCommand(Consumer<SerializedEvent> unreceived) implements EventCommand {

	@Override
	public AsyncCommand<byte[], byte[], ?> pipelined(SerializedEvent event) {
		return LettuceCommands.publish(event);
	}

	@Override
	public @Nullable Object execute(RedisConnection connection, SerializedEvent event) {
		return connection.publish(EntryFields.bytes(event.destination()), CloudEventJson.write(event));
	}

	@Override
	public boolean isAcceptedByReplicas() {
		return true;
	}

	/**
	 * A node of a Cluster counts its own clients only.
	 */
	@Override
	public void confirmed(SerializedEvent event, @Nullable Object reply, boolean cluster) {
		if (!cluster && reply instanceof Long receivers && receivers == 0) {
			this.unreceived.accept(event);
		}
	}

}
