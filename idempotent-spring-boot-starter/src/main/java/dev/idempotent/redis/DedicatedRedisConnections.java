package dev.idempotent.redis;

import java.time.Duration;
import java.util.Collection;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.event.DefaultEventPublisherOptions;
import io.lettuce.core.protocol.RedisCommand;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Connections to the application's standalone, Sentinel or Cluster servers, separate from
 * the application's own: with a separate timeout, without a queue of commands while
 * disconnected, and with a new connection instead of reconnecting. Each is for one
 * caller, which {@linkplain #connect() opens} or {@linkplain #borrow() borrows} it, but
 * for one that all threads {@linkplain #useShared share}.
 */
public final class DedicatedRedisConnections implements AutoCloseable {

	private static final Delay RECONNECT_DELAY = Delay.fullJitter(Duration.ofMillis(1), Duration.ofSeconds(1), 1,
			TimeUnit.MILLISECONDS);

	/**
	 * A thread for each attempt: Lettuce reads the topology of a Cluster on the thread
	 * that connects.
	 */
	private static final Executor CONNECTORS = (attempt) -> {
		Thread thread = new Thread(attempt, "redis-connector");
		thread.setDaemon(true);
		thread.start();
	};

	/**
	 * While the server refuses connections, each command would otherwise open one.
	 */
	private static final Duration MIN_ATTEMPT_INTERVAL = Duration.ofMillis(100);

	/**
	 * Creates the client, with Spring Data's settings of servers and credentials.
	 */
	private final LettuceConnectionFactory clients;

	private final ClientResources resources;

	private final Duration timeout;

	private final Queue<DedicatedRedisConnection> idle = new ConcurrentLinkedQueue<>();

	private volatile @Nullable CompletableFuture<DedicatedRedisConnection> shared;

	/**
	 * The start of the attempt to open {@link #shared}, which is written after it.
	 */
	private volatile long sharedSince;

	private final AtomicBoolean probing = new AtomicBoolean();

	private DedicatedRedisConnections(LettuceConnectionFactory clients, ClientResources resources, Duration timeout) {
		this.clients = clients;
		this.resources = resources;
		this.timeout = timeout;
	}

	/**
	 * Creates a source of connections; does not connect yet.
	 * @param application the application's factory, one that {@linkplain #hasKnownServers
	 * has known servers}
	 * @param timeout the timeout of connecting and of each command
	 * @return connections to be closed after use
	 */
	public static DedicatedRedisConnections to(LettuceConnectionFactory application, Duration timeout) {
		ClientResources resources = resources(application.getClientResources());
		LettuceConnectionFactory clients = new LettuceConnectionFactory(servers(application),
				settings(application.getClientConfiguration(), application.isClusterAware(), resources, timeout));
		clients.afterPropertiesSet();
		clients.start();
		return new DedicatedRedisConnections(clients, resources, timeout);
	}

	/**
	 * Returns whether the servers of a factory can be determined. A factory that was
	 * created with a plain {@code RedisConfiguration} reports a default configuration
	 * instead.
	 * @param application the application's factory
	 * @return whether {@link #to} connects to the servers of the factory
	 */
	public static boolean hasKnownServers(LettuceConnectionFactory application) {
		RedisStandaloneConfiguration standalone = application.getStandaloneConfiguration();
		return application.isClusterAware() || application.isRedisSentinelAware()
				|| application.getSocketConfiguration() != null
				|| (application.getHostName().equals(standalone.getHostName())
						&& application.getPort() == standalone.getPort());
	}

	/**
	 * Connects.
	 * @return a connection to be closed after use
	 * @throws RedisException if connecting fails or times out
	 */
	public DedicatedRedisConnection connect() {
		return connect(this.timeout);
	}

	private DedicatedRedisConnection connect(Duration wait) {
		CompletableFuture<DedicatedRedisConnection> opening = open();
		boolean opened = false;
		try {
			DedicatedRedisConnection connection = await(opening, wait);
			opened = true;
			return connection;
		}
		finally {
			if (!opened) {
				CompletableFuture<Void> unused = opening.thenAccept(DedicatedRedisConnection::close);
			}
		}
	}

	/**
	 * Borrows a connection for some commands, each of which is awaited.
	 * @param <T> the type of the result
	 * @param work what to do with the connection
	 * @return what the work returned
	 * @throws RedisException if connecting or a command fails or times out
	 */
	public <T> T use(Function<DedicatedRedisConnection, T> work) {
		DedicatedRedisConnection connection = borrow();
		boolean reusable = true;
		try {
			return work.apply(connection);
		}
		catch (RedisException ex) {
			reusable = ErrorReply.codeOf(ex) != null && !connection.isAtWrongServer(ex);
			throw ex;
		}
		finally {
			giveBack(connection, reusable);
		}
	}

	/**
	 * Returns an idle connection that another caller has used, or connects.
	 * @return a connection for {@link #giveBack}
	 * @throws RedisException if connecting fails or times out
	 */
	public DedicatedRedisConnection borrow() {
		return borrow(this.timeout);
	}

	/**
	 * Returns an idle connection that another caller has used, or connects.
	 * @param wait the longest wait
	 * @return a connection for {@link #giveBack}
	 * @throws RedisException if connecting fails or times out
	 */
	public DedicatedRedisConnection borrow(Duration wait) {
		DedicatedRedisConnection kept = this.idle.poll();
		while (kept != null && !kept.isOpen()) {
			kept.close();
			kept = this.idle.poll();
		}
		return (kept != null) ? kept : connect(wait);
	}

	/**
	 * Keeps a borrowed connection for the next caller. One that is not reusable is
	 * discarded together with all idle ones: its failure often affects all of them, and
	 * each would cost a timeout.
	 * @param connection not to be used any more
	 * @param reusable whether each command has got its reply
	 */
	public void giveBack(DedicatedRedisConnection connection, boolean reusable) {
		if (reusable && connection.isOpen()) {
			this.idle.add(connection);
			return;
		}
		discard(connection);
		for (DedicatedRedisConnection kept = this.idle.poll(); kept != null; kept = this.idle.poll()) {
			kept.close();
		}
	}

	/**
	 * Executes commands on one connection of all threads, which is opened in the
	 * background, so that all of them wait concurrently for an unreachable Redis. It is
	 * replaced at its next use once it is closed, once it no longer responds, which the
	 * operating system takes 15 minutes to detect, and once its server has become a
	 * replica, because the same address may lead to the new master.
	 * @param <T> the type of the result
	 * @param work what to do with the connection, without a lock while it is open
	 * @return what the work returned
	 * @throws RedisException if connecting or a command fails or times out
	 */
	public <T> T useShared(Function<DedicatedRedisConnection, T> work) {
		CompletableFuture<DedicatedRedisConnection> current = this.shared;
		DedicatedRedisConnection connection = await((current != null && isUsable(current)) ? current : share(),
				this.timeout);
		try {
			return work.apply(connection);
		}
		catch (RedisException ex) {
			closeIfBroken(connection, ex);
			throw ex;
		}
	}

	private synchronized CompletableFuture<DedicatedRedisConnection> share() {
		CompletableFuture<DedicatedRedisConnection> current = this.shared;
		if (current == null || !isUsable(current)) {
			this.sharedSince = System.nanoTime();
			current = open();
			this.shared = current;
		}
		return current;
	}

	/**
	 * Returns whether the attempt goes on, has succeeded, or has failed just now.
	 */
	private boolean isUsable(CompletableFuture<DedicatedRedisConnection> attempt) {
		if (!attempt.isDone()) {
			return true;
		}
		return attempt.isCompletedExceptionally()
				? System.nanoTime() - this.sharedSince < MIN_ATTEMPT_INTERVAL.toNanos() : attempt.join().isOpen();
	}

	/**
	 * After a timeout, closes a connection that does not respond to another command
	 * either.
	 */
	private void closeIfBroken(DedicatedRedisConnection connection, RedisException failure) {
		// In a Cluster, Lettuce asks the other nodes for the state of a silent one.
		if (connection.isCluster()) {
			return;
		}
		if (connection.isAtWrongServer(failure)) {
			connection.close();
		}
		else if (failure instanceof RedisCommandTimeoutException && this.probing.compareAndSet(false, true)) {
			var unused = connection.commands().ping().whenComplete((pong, silence) -> {
				this.probing.set(false);
				if (silence instanceof RedisCommandTimeoutException) {
					connection.close();
				}
			});
		}
	}

	/**
	 * Closes a connection after a failure, and refreshes the topology of a Cluster, which
	 * Lettuce does only if the application has configured it.
	 * @param connection not to be used any more
	 */
	public void discard(DedicatedRedisConnection connection) {
		connection.close();
		if (this.clients.getNativeClient() instanceof RedisClusterClient cluster) {
			var unused = cluster.refreshPartitionsAsync();
		}
	}

	/**
	 * The timeout of connecting and of each command.
	 * @return the timeout
	 */
	public Duration timeout() {
		return this.timeout;
	}

	@Override
	public void close() {
		this.clients.destroy();
		Future<Boolean> unused = this.resources.shutdown(0, this.clients.getShutdownTimeout(), TimeUnit.MILLISECONDS);
	}

	/**
	 * Connects in the background.
	 */
	private CompletableFuture<DedicatedRedisConnection> open() {
		return CompletableFuture.supplyAsync(() -> {
			AbstractRedisClient client = this.clients.getRequiredNativeClient();
			return new DedicatedRedisConnection(
					(client instanceof RedisClusterClient cluster) ? cluster.connect(ByteArrayCodec.INSTANCE)
							: ((RedisClient) client).connect(ByteArrayCodec.INSTANCE),
					this.timeout);
		}, CONNECTORS);
	}

	private static DedicatedRedisConnection await(CompletableFuture<DedicatedRedisConnection> opening, Duration wait) {
		try {
			return opening.get(wait.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException ex) {
			throw new RedisConnectionException("Could not connect to Redis: " + rootMessage(ex), ex);
		}
		catch (TimeoutException ex) {
			throw new RedisConnectionException("Not connected to Redis within " + wait, ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new RedisConnectionException("Interrupted while connecting to Redis", ex);
		}
	}

	/**
	 * The reason, which the messages of the outer exceptions lack.
	 */
	private static String rootMessage(Throwable failure) {
		Throwable root = failure;
		while (root.getCause() != null) {
			root = root.getCause();
		}
		return (root.getMessage() != null) ? root.getMessage() : root.getClass().getName();
	}

	static RedisConfiguration servers(LettuceConnectionFactory application) {
		if (application.getClusterConfiguration() != null) {
			return application.getClusterConfiguration();
		}
		if (application.getSentinelConfiguration() != null) {
			return application.getSentinelConfiguration();
		}
		if (application.getSocketConfiguration() != null) {
			return application.getSocketConfiguration();
		}
		return application.getStandaloneConfiguration();
	}

	/**
	 * Resources that share the application's threads but reconnect within a second.
	 * Copied part by part, because those from {@code mutate()} would shut down the
	 * application's threads.
	 * @param application the application's resources, or {@code null} for the defaults
	 */
	static ClientResources resources(@Nullable ClientResources application) {
		ClientResources.Builder resources = ClientResources.builder().reconnectDelay(RECONNECT_DELAY);
		if (application != null) {
			resources.addressResolverGroup(application.addressResolverGroup())
				.commandLatencyPublisherOptions(DefaultEventPublisherOptions.disabled())
				.commandLatencyRecorder(application.commandLatencyRecorder())
				.eventBus(application.eventBus())
				.eventExecutorGroup(application.eventExecutorGroup())
				.eventLoopGroupProvider(application.eventLoopGroupProvider())
				.nettyCustomizer(application.nettyCustomizer())
				.socketAddressResolver(application.socketAddressResolver())
				.timer(application.timer())
				.tracing(application.tracing());
		}
		return resources.build();
	}

	/**
	 * The application's settings with a separate timeout. A closed connection is not
	 * reconnected, except to the nodes of a Cluster: Lettuce would send its commands a
	 * second time and log each attempt.
	 */
	static LettuceClientConfiguration settings(LettuceClientConfiguration application, boolean cluster,
			ClientResources resources, Duration timeout) {
		ClientOptions options = application.getClientOptions().orElseGet(ClientOptions::create);
		var settings = LettuceClientConfiguration.builder()
			.commandTimeout(timeout)
			.shutdownTimeout(application.getShutdownTimeout())
			.shutdownQuietPeriod(application.getShutdownQuietPeriod())
			.clientResources(resources)
			.clientOptions(options.mutate()
				.autoReconnect(cluster)
				.disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
				.socketOptions(options.getSocketOptions().mutate().connectTimeout(timeout).build())
				.timeoutOptions(TimeoutOptions.enabled(timeout))
				.build());
		application.getClientName().ifPresent(settings::clientName);
		application.getRedisCredentialsProviderFactory().ifPresent(settings::redisCredentialsProviderFactory);
		if (application.isUseSsl()) {
			var ssl = settings.useSsl().verifyPeer(application.getVerifyMode());
			if (application.isStartTls()) {
				ssl.startTls();
			}
		}
		return settings.build();
	}

	/**
	 * A native connection. One with a single user is to be discarded after a timeout or
	 * an interruption: its next reply may belong to an earlier command.
	 */
	public static final class DedicatedRedisConnection implements AutoCloseable {

		/**
		 * A server that remains a replica must not cost a new connection for each
		 * command.
		 */
		private static final Duration MIN_AGE = Duration.ofMillis(500);

		private final StatefulConnection<byte[], byte[]> connection;

		private final Duration timeout;

		private final long opened = System.nanoTime();

		DedicatedRedisConnection(StatefulConnection<byte[], byte[]> connection, Duration timeout) {
			this.connection = connection;
			this.timeout = timeout;
		}

		/**
		 * The commands that standalone servers and a Cluster have in common. In a
		 * Cluster, Lettuce sends a command to the master of its key, and follows
		 * redirections.
		 * @return the API, which sends each command at once
		 */
		public RedisClusterAsyncCommands<byte[], byte[]> commands() {
			return isCluster() ? ((StatefulRedisClusterConnection<byte[], byte[]>) this.connection).async()
					: ((StatefulRedisConnection<byte[], byte[]>) this.connection).async();
		}

		/**
		 * Waits for a reply until the timeout of the connection.
		 * @param <T> the type of the reply
		 * @param reply the reply to a command of this connection
		 * @return the reply
		 * @throws RedisException if there is none, or an error
		 */
		public <T> T await(RedisFuture<T> reply) {
			return LettuceFutures.awaitOrCancel(reply, this.timeout.toNanos(), TimeUnit.NANOSECONDS);
		}

		/**
		 * Runs a script by its digest, or by its text if the server does not know it.
		 * @param script the script
		 * @param type how to read the reply
		 * @param keys the keys, all of one slot
		 * @param arguments the arguments
		 * @return the reply
		 * @throws RedisException if there is none, or an error; the script may have run
		 */
		public Object run(LuaScript script, ScriptOutputType type, byte[][] keys, byte[]... arguments) {
			try {
				return await(commands().evalsha(script.digest(), type, keys, arguments));
			}
			catch (RedisNoScriptException ex) {
				return await(commands().eval(script.text(), type, keys, arguments));
			}
		}

		/**
		 * Sends commands with one flush, or in a Cluster with one for each slot.
		 * @param batch the commands in their order
		 * @throws RedisException if a command cannot be sent
		 */
		public void dispatch(Collection<? extends RedisCommand<byte[], byte[], ?>> batch) {
			this.connection.dispatch(batch);
		}

		/**
		 * Returns whether this is a connection to a Cluster.
		 * @return {@code false} for a standalone server or a master behind Sentinels
		 */
		public boolean isCluster() {
			return this.connection instanceof StatefulRedisClusterConnection;
		}

		/**
		 * Returns whether the connection is open, as far as is known.
		 * @return always {@code true} in a Cluster, until it is closed
		 */
		public boolean isOpen() {
			return this.connection.isOpen();
		}

		/**
		 * Returns whether a new connection may be accepted where a command of this one
		 * was rejected.
		 * @param failure the failure of the command
		 * @return {@code false} also if this one is new
		 */
		public boolean isAtWrongServer(Throwable failure) {
			return System.nanoTime() - this.opened >= MIN_AGE.toNanos() && ErrorReply.requiresReconnect(failure);
		}

		@Override
		public void close() {
			CompletableFuture<Void> unused = this.connection.closeAsync();
		}

	}

}
