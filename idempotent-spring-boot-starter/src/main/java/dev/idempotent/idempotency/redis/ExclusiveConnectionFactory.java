package dev.idempotent.idempotency.redis;

import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.codec.RedisCodec;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionProvider;

/**
 * Lends each thread a connection of its own and keeps returned connections for reuse.
 * Replaces all of them once one times out or its server is no longer the master.
 */
final class ExclusiveConnectionFactory extends LettuceConnectionFactory {

	ExclusiveConnectionFactory(RedisConfiguration servers, LettuceClientConfiguration client) {
		super(servers, client);
		setShareNativeConnection(false);
	}

	@Override
	protected LettuceConnectionProvider doCreateConnectionProvider(AbstractRedisClient client, RedisCodec<?, ?> codec) {
		ConnectionPool connections = new ConnectionPool(super.doCreateConnectionProvider(client, codec));
		client.addListener(new CommandFailureListener(connections::closeAll, connections::closeAll));
		return connections;
	}

	/**
	 * Keeps connections for reuse. Their number is the highest number of concurrent uses.
	 */
	private static final class ConnectionPool implements LettuceConnectionProvider {

		private final LettuceConnectionProvider connector;

		private final Queue<StatefulConnection<?, ?>> idle = new ConcurrentLinkedQueue<>();

		/**
		 * Connections in use, with the generation in which their use began.
		 */
		private final Map<StatefulConnection<?, ?>, Integer> inUse = new ConcurrentHashMap<>();

		private final AtomicInteger generation = new AtomicInteger();

		ConnectionPool(LettuceConnectionProvider connector) {
			this.connector = connector;
		}

		@Override
		public <T extends StatefulConnection<?, ?>> T getConnection(Class<T> connectionType) {
			int current = this.generation.get();
			StatefulConnection<?, ?> kept = pollOpen();
			T connection = (kept != null) ? connectionType.cast(kept) : this.connector.getConnection(connectionType);
			this.inUse.put(connection, current);
			return connection;
		}

		private @Nullable StatefulConnection<?, ?> pollOpen() {
			StatefulConnection<?, ?> kept = this.idle.poll();
			while (kept != null && !kept.isOpen()) {
				CompletableFuture<Void> unused = kept.closeAsync();
				kept = this.idle.poll();
			}
			return kept;
		}

		@Override
		public <T extends StatefulConnection<?, ?>> CompletionStage<T> getConnectionAsync(Class<T> connectionType) {
			return this.connector.getConnectionAsync(connectionType);
		}

		@Override
		public CompletableFuture<Void> releaseAsync(StatefulConnection<?, ?> connection) {
			Integer since = this.inUse.remove(connection);
			if (since != null && since == this.generation.get() && connection.isOpen()) {
				this.idle.add(connection);
				return CompletableFuture.completedFuture(null);
			}
			return connection.closeAsync();
		}

		/**
		 * Closes idle connections now and those in use when they are returned.
		 */
		void closeAll() {
			this.generation.incrementAndGet();
			@Nullable StatefulConnection<?, ?> kept = this.idle.poll();
			while (kept != null) {
				CompletableFuture<Void> unused = kept.closeAsync();
				kept = this.idle.poll();
			}
		}

	}

}
