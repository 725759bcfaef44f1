package dev.idempotent.stream;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import dev.idempotent.lettuce.DedicatedRedisConnection;
import dev.idempotent.lettuce.ErrorReply;
import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Commands that are sent together and whose replies are awaited until one deadline.
 */
final class Inquiry {

	static final String NO_REPLY = "Redis did not respond";

	private static final Logger logger = LoggerFactory.getLogger(Inquiry.class);

	private final DedicatedRedisConnection connection;

	private final long deadline;

	private boolean broken;

	Inquiry(DedicatedRedisConnection connection, Duration timeout) {
		this.connection = connection;
		this.deadline = System.nanoTime() + timeout.toNanos();
	}

	<T> Reply<T> send(Function<RedisClusterAsyncCommands<byte[], byte[]>, RedisFuture<T>> command) {
		try {
			return new Reply<>(command.apply(this.connection.commands()));
		}
		catch (RuntimeException ex) {
			return new Reply<>(problemOf(ex));
		}
	}

	/**
	 * Returns whether the connection must be discarded.
	 */
	boolean isConnectionBroken() {
		return this.broken;
	}

	private String problemOf(RuntimeException failure) {
		logger.debug("The state of a stream could not be read", failure);
		boolean rejected = failure instanceof RedisCommandExecutionException;
		this.broken |= !rejected || ErrorReply.requiresReconnect(failure);
		return rejected ? String.valueOf(failure.getMessage()) : NO_REPLY;
	}

	/**
	 * The reply to one command.
	 */
	final class Reply<T> {

		private final @Nullable RedisFuture<T> future;

		private @Nullable String problem;

		private Reply(RedisFuture<T> future) {
			this.future = future;
		}

		private Reply(String problem) {
			this.future = null;
			this.problem = problem;
		}

		/**
		 * Waits until the deadline.
		 * @return {@code null} if there is a {@linkplain #problem problem}
		 */
		@Nullable T await() {
			if (this.future == null || this.problem != null) {
				return null;
			}
			try {
				long left = Math.max(1, Inquiry.this.deadline - System.nanoTime());
				return LettuceFutures.awaitOrCancel(this.future, left, TimeUnit.NANOSECONDS);
			}
			catch (RuntimeException ex) {
				this.problem = problemOf(ex);
				return null;
			}
		}

		/**
		 * Why there is no reply.
		 * @return {@code null} if there is one
		 */
		@Nullable String problem() {
			return this.problem;
		}

	}

}
