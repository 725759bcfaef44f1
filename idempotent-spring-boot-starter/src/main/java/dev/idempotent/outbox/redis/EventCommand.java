package dev.idempotent.outbox.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;

import dev.idempotent.outbox.SerializedEvent;
import io.lettuce.core.protocol.AsyncCommand;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnection;

/**
 * The command that publishes an event.
 */
interface EventCommand {

	/**
	 * The command for a pipeline of Lettuce. Its first key is the destination.
	 */
	AsyncCommand<byte[], byte[], ?> pipelined(SerializedEvent event);

	/**
	 * Whether events of one destination and key are published up to the first that is
	 * refused.
	 */
	default boolean keepsOrder() {
		return false;
	}

	/**
	 * The command for several events of one destination and key, if it keeps their order.
	 * Its reply is a list of how many it has published, and the error.
	 */
	default AsyncCommand<byte[], byte[], List<Object>> pipelined(List<SerializedEvent> run) {
		throw new UnsupportedOperationException("Its order is not kept");
	}

	/**
	 * Executes the command with any client.
	 * @return the reply
	 */
	@Nullable Object execute(RedisConnection connection, SerializedEvent event);

	/**
	 * Whether a replica accepts the command, too, although nothing reaches its master.
	 */
	default boolean isAcceptedByReplicas() {
		return false;
	}

	/**
	 * Called after Redis has confirmed an event.
	 * @param cluster whether the reply comes from a node of a Cluster
	 */
	default void confirmed(SerializedEvent event, @Nullable Object reply, boolean cluster) {
	}

	static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
