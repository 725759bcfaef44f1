package dev.idempotent.outbox.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.lettuce.core.protocol.AsyncCommand;

/**
 * Asks, as a part of a pipeline, whether the server is a replica. After a failover behind
 * one address, an open connection still leads to the old master.
 */
final class ServerRole {

	private final AsyncCommand<byte[], byte[], List<Object>> command = LettuceCommands.hello();

	AsyncCommand<byte[], byte[], List<Object>> command() {
		return this.command;
	}

	/**
	 * Returns {@code false} also for a server that does not say so.
	 * @param deadline in terms of {@link System#nanoTime()}
	 */
	boolean isReplica(long deadline) {
		try {
			List<Object> reply = this.command.get(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
			return reply.stream().anyMatch(ServerRole::isReplica);
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
