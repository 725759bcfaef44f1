package dev.idempotent.idempotency.redis;

import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

import io.lettuce.core.api.StatefulConnection;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionProvider;

/**
 * Keeps connections from one use to the next. There are as many as were in use at the
 * same time.
 */
final class IdleConnections implements LettuceConnectionProvider {

	private final LettuceConnectionProvider connector;

	private final Queue<StatefulConnection<?, ?>> idle = new ConcurrentLinkedQueue<>();

	/**
	 * Connections in use, with the generation at whose time their use began.
	 */
	private final Map<StatefulConnection<?, ?>, Integer> lent = new ConcurrentHashMap<>();

	private final AtomicInteger generation = new AtomicInteger();

	IdleConnections(LettuceConnectionProvider connector) {
		this.connector = connector;
	}

	@Override
	public <T extends StatefulConnection<?, ?>> T getConnection(Class<T> connectionType) {
		int current = this.generation.get();
		StatefulConnection<?, ?> kept = this.idle.poll();
		T connection = (kept != null) ? connectionType.cast(kept) : this.connector.getConnection(connectionType);
		this.lent.put(connection, current);
		return connection;
	}

	@Override
	public <T extends StatefulConnection<?, ?>> CompletionStage<T> getConnectionAsync(Class<T> connectionType) {
		return this.connector.getConnectionAsync(connectionType);
	}

	@Override
	public CompletableFuture<Void> releaseAsync(StatefulConnection<?, ?> connection) {
		Integer since = this.lent.remove(connection);
		if (since != null && since == this.generation.get() && connection.isOpen()) {
			this.idle.add(connection);
			return CompletableFuture.completedFuture(null);
		}
		return connection.closeAsync();
	}

	/**
	 * Closes the idle connections now and those in use after it.
	 */
	void retireAll() {
		this.generation.incrementAndGet();
		@Nullable StatefulConnection<?, ?> kept = this.idle.poll();
		while (kept != null) {
			CompletableFuture<Void> unused = kept.closeAsync();
			kept = this.idle.poll();
		}
	}

}
