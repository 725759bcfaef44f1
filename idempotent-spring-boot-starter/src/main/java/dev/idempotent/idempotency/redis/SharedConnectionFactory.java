package dev.idempotent.idempotency.redis;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import dev.idempotent.redis.DedicatedClientSettings;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceExceptionConverter;

/**
 * One connection for all threads, opened in the background, so that all of them wait
 * concurrently for an unreachable Redis: Spring Data connects under a lock, where
 * timeouts would add up. Replaces a closed connection when it is used next: reconnecting
 * by Lettuce itself would log each attempt. Also replaces a connection that no longer
 * responds, which the operating system takes 15 minutes to detect, and one whose server
 * became a replica, because the same address may lead to the new master.
 */
final class SharedConnectionFactory extends LettuceConnectionFactory implements ScriptSender {

	/**
	 * While the server refuses connections, each request would otherwise open one.
	 */
	private static final Duration MIN_ATTEMPT_INTERVAL = Duration.ofMillis(100);

	private static final LettuceExceptionConverter EXCEPTIONS = new LettuceExceptionConverter();

	private final Duration timeout;

	private final ThreadPoolExecutor connector;

	private volatile @Nullable Attempt lastAttempt;

	private @Nullable CompletableFuture<Void> probe;

	SharedConnectionFactory(RedisConfiguration servers, LettuceClientConfiguration client, Duration timeout) {
		super(servers, client);
		this.timeout = timeout;
		this.connector = new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), (task) -> {
			Thread thread = new Thread(task, "idempotency-redis");
			thread.setDaemon(true);
			return thread;
		});
		this.connector.allowCoreThreadTimeOut(true);
	}

	@Override
	protected @Nullable StatefulRedisConnection<byte[], byte[]> getSharedConnection() {
		return isClusterAware() ? null
				: (StatefulRedisConnection<byte[], byte[]>) await(connection(super::getSharedConnection));
	}

	@Override
	protected @Nullable StatefulRedisClusterConnection<byte[], byte[]> getSharedClusterConnection() {
		return isClusterAware()
				? (StatefulRedisClusterConnection<byte[], byte[]>) await(connection(super::getSharedClusterConnection))
				: null;
	}

	@Override
	public Object send(LuaScript script, byte[] key, byte[]... arguments) {
		StatefulConnection<byte[], byte[]> current = isClusterAware() ? getSharedClusterConnection()
				: getSharedConnection();
		try {
			return NativeScripts.run(Objects.requireNonNull(current), script, key, arguments);
		}
		catch (RedisException ex) {
			throw Objects.requireNonNull(EXCEPTIONS.convert(ex));
		}
	}

	@Override
	protected AbstractRedisClient createClient() {
		AbstractRedisClient client = super.createClient();
		// In a Cluster, Lettuce asks the other nodes for the state of a silent one.
		if (!isClusterAware()) {
			client.addListener(new CommandFailureListener(this::checkConnection, this::replaceConnection));
		}
		return client;
	}

	@Override
	public void destroy() {
		this.connector.shutdownNow();
		super.destroy();
	}

	private @Nullable StatefulConnection<byte[], byte[]> await(Attempt attempt) {
		try {
			return attempt.connection().get(this.timeout.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException ex) {
			throw new RedisConnectionFailureException(DedicatedClientSettings.describe(ex), ex);
		}
		catch (TimeoutException ex) {
			throw new RedisConnectionFailureException("Not connected to Redis within " + this.timeout, ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new RedisConnectionFailureException("Interrupted while connecting to Redis", ex);
		}
	}

	/**
	 * Returns the current connection without a lock, which all requests would wait for.
	 */
	private Attempt connection(Supplier<@Nullable StatefulConnection<byte[], byte[]>> connect) {
		Attempt last = this.lastAttempt;
		return (last != null && !last.isToBeReplaced()) ? last : connectOnce(connect);
	}

	private synchronized Attempt connectOnce(Supplier<@Nullable StatefulConnection<byte[], byte[]>> connect) {
		Attempt last = this.lastAttempt;
		if (last == null || last.isToBeReplaced()) {
			last = new Attempt(System.nanoTime(), connect(connect));
			this.lastAttempt = last;
		}
		return last;
	}

	private CompletableFuture<@Nullable StatefulConnection<byte[], byte[]>> connect(
			Supplier<@Nullable StatefulConnection<byte[], byte[]>> connect) {
		try {
			return CompletableFuture.supplyAsync(() -> {
				resetConnection();
				return connect.get();
			}, this.connector);
		}
		catch (RejectedExecutionException ex) {
			// A request may still run when the application is closed.
			return CompletableFuture.failedFuture(new RedisConnectionFailureException("Closed", ex));
		}
	}

	private synchronized void checkConnection() {
		if (this.probe == null || this.probe.isDone()) {
			this.probe = CompletableFuture.runAsync(this::replaceIfUnresponsive, this.connector);
		}
	}

	private synchronized void replaceConnection() {
		CompletableFuture<Void> unused = CompletableFuture.runAsync(this::replace, this.connector);
	}

	private void replaceIfUnresponsive() {
		StatefulRedisConnection<byte[], byte[]> suspect = Objects.requireNonNull(super.getSharedConnection());
		try {
			suspect.sync().ping();
		}
		catch (RedisCommandTimeoutException ex) {
			replace();
		}
	}

	private void replace() {
		resetConnection();
		forgetConnection();
	}

	private synchronized void forgetConnection() {
		this.lastAttempt = null;
	}

	/**
	 * An attempt to connect.
	 *
	 * @param start when it began
	 * @param connection the connection, once it is open
	 */
	private record Attempt(long start, CompletableFuture<@Nullable StatefulConnection<byte[], byte[]>> connection) {

		/**
		 * Returns whether the attempt failed a while ago, or its connection is closed. In
		 * a Cluster, Lettuce reconnects to each node.
		 */
		boolean isToBeReplaced() {
			if (!this.connection.isDone()) {
				return false;
			}
			if (this.connection.isCompletedExceptionally()) {
				return System.nanoTime() - this.start >= MIN_ATTEMPT_INTERVAL.toNanos();
			}
			StatefulConnection<byte[], byte[]> opened = this.connection.join();
			return opened == null || !opened.isOpen();
		}

	}

}
