package dev.idempotent.idempotency.redis;

import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.Collectors;

import dev.idempotent.redis.DedicatedRedisConnections.DedicatedRedisConnection;
import dev.idempotent.redis.DedicatedRedisConnections;
import dev.idempotent.redis.ErrorReply;
import dev.idempotent.redis.LuaScript;
import io.lettuce.core.RedisException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.api.async.RedisAdvancedClusterAsyncCommands;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.ReturnType;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceExceptionConverter;

/**
 * A connection to the application's Redis on which the scripts of the store run. With
 * Lettuce, it has a separate timeout, so that an unreachable Redis blocks a request for
 * milliseconds instead of the application's timeout (one minute by default), and connects
 * again when it is used after a loss.
 */
public abstract class IdempotencyRedisConnection implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(IdempotencyRedisConnection.class);

	/**
	 * How many timeouts the first use may take: classes are loaded, threads started and
	 * names resolved.
	 */
	private static final int WARM_UP_TIMEOUTS = 10;

	private static final Duration LEAST_PAUSE = Duration.ofSeconds(1);

	/**
	 * The server is not ready yet; any other error is the same at the next attempt.
	 */
	private static final String LOADING = "LOADING";

	private final CountDownLatch closed = new CountDownLatch(1);

	private final AtomicBoolean unreachable = new AtomicBoolean();

	IdempotencyRedisConnection() {
	}

	/**
	 * Uses the application's factory with its own timeout, whatever its client.
	 * @param application the application's factory
	 * @return the connection
	 */
	public static IdempotencyRedisConnection shared(RedisConnectionFactory application) {
		return new AnyClient(application);
	}

	/**
	 * Opens one more connection to the same standalone, Sentinel or Cluster servers,
	 * shared by all threads.
	 * @param application the application's factory; static master and replica nodes are
	 * not supported
	 * @param timeout the timeout of connecting and of each command
	 * @return the connection
	 */
	public static IdempotencyRedisConnection withTimeout(LettuceConnectionFactory application, Duration timeout) {
		return new LettuceClient(application, timeout, 0, Duration.ZERO);
	}

	/**
	 * Opens further connections to the same servers, one for each thread that uses one:
	 * each waits until replicas have confirmed what a script has written, so that a
	 * failover to one of them does not lose it. Without their confirmation, the outcome
	 * is unknown.
	 * @param application the application's factory for standalone or Sentinel servers
	 * @param timeout the timeout of connecting and of each command
	 * @param replicas how many replicas must confirm a write, at least 1
	 * @param waitTimeout how long to wait for them, shorter than the other timeout
	 * @return the connections
	 */
	public static IdempotencyRedisConnection confirmed(LettuceConnectionFactory application, Duration timeout,
			int replicas, Duration waitTimeout) {
		return new LettuceClient(application, timeout, replicas, waitTimeout);
	}

	/**
	 * Runs a script.
	 * @param withDetails whether the reply is a list that begins with the outcome, rather
	 * than the outcome itself
	 * @return the reply: a {@code byte[]}, or a {@code List} of {@code byte[]} and
	 * {@code Long}
	 * @throws org.springframework.dao.DataAccessException if there is no reply, or an
	 * error; the script may have run
	 */
	abstract Object run(LuaScript script, boolean withDetails, byte[] key, byte[]... arguments);

	/**
	 * The outcome in the reply of a script.
	 */
	static String outcome(Object reply) {
		byte[] outcome = (byte[]) ((reply instanceof List<?> details) ? details.get(0) : reply);
		return new String(outcome, StandardCharsets.US_ASCII);
	}

	/**
	 * Reads the state of each master's memory by INFO, which managed servers allow even
	 * where they forbid CONFIG.
	 * @throws RuntimeException if it cannot be read
	 */
	abstract List<Properties> memory();

	/**
	 * The name of this connection in messages.
	 */
	abstract String describe();

	@Override
	public void close() {
		this.closed.countDown();
	}

	/**
	 * Connects and checks the server's eviction policy. Logs a warning if keys may be
	 * evicted, if the policy is unknown, or if Redis is unavailable. In the last case,
	 * the check is repeated in the background until Redis answers.
	 * @param timeout the timeout of an established connection; the first one may take ten
	 * times as long, and twenty times with the application's timeout
	 */
	public void warmUp(Duration timeout) {
		CountDownLatch begun = new CountDownLatch(1);
		Thread thread = new Thread(() -> check(timeout, begun), "idempotency-redis-warm-up");
		thread.setDaemon(true);
		thread.start();
		try {
			if (!begun.await(timeout.multipliedBy(2L * WARM_UP_TIMEOUTS).toMillis(), TimeUnit.MILLISECONDS)) {
				warnOfUnreachable("no answer");
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private void check(Duration timeout, CountDownLatch begun) {
		RuntimeException failure = attemptWithin(timeout);
		if (failure != null && isTransient(failure)) {
			warnOfUnreachable(describe(failure));
		}
		Duration pause = (timeout.compareTo(LEAST_PAUSE) > 0) ? timeout : LEAST_PAUSE;
		while (failure != null && isTransient(failure)) {
			begun.countDown();
			if (isClosedWithin(pause)) {
				return;
			}
			failure = attempt();
		}
		if (failure != null) {
			logger.warn(
					"The maxmemory-policy of Redis could not be read; it must be noeviction, or a retry may run again: {}",
					describe(failure));
		}
		begun.countDown();
	}

	/**
	 * A busy machine may not answer the first attempts in time.
	 */
	private @Nullable RuntimeException attemptWithin(Duration timeout) {
		long end = System.nanoTime() + timeout.multipliedBy(WARM_UP_TIMEOUTS).toNanos();
		RuntimeException failure;
		long begun;
		do {
			begun = System.nanoTime();
			failure = attempt();
		}
		// One that fails much sooner was rejected, and so would be the next one.
		while (failure != null && System.nanoTime() - begun >= timeout.dividedBy(2).toNanos()
				&& System.nanoTime() - end < 0);
		return failure;
	}

	private static boolean isTransient(RuntimeException failure) {
		String code = ErrorReply.codeOf(failure);
		return code == null || code.equals(LOADING);
	}

	private boolean isClosedWithin(Duration pause) {
		try {
			return this.closed.await(pause.toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			return true;
		}
	}

	private @Nullable RuntimeException attempt() {
		try {
			evictionPolicies().forEach((policy) -> logger
				.warn("Redis may evict idempotency keys when its memory is full (maxmemory-policy {}), so that a retry "
						+ "would run again; use a Redis with maxmemory-policy noeviction", policy));
			return null;
		}
		catch (RuntimeException ex) {
			return ex;
		}
	}

	private void warnOfUnreachable(String reason) {
		if (!this.unreachable.compareAndSet(false, true)) {
			return;
		}
		logger.warn("Redis was not reachable while the application started: {}. Until it is reachable, "
				+ "idempotent.on-store-failure applies to LEASE, and the database decides under TRANSACTION. Its maxmemory-policy (must be noeviction) is checked then",
				reason);
	}

	private static String describe(RuntimeException failure) {
		String message = String.valueOf(failure.getMessage());
		String reason = NestedExceptionUtils.getMostSpecificCause(failure).getMessage();
		return (reason == null || message.contains(reason)) ? message : message + ": " + reason;
	}

	/**
	 * Reads by which policies the servers evict keys when their memory is full.
	 * @return the policies other than {@code noeviction}; empty if no server evicts keys
	 * @throws RuntimeException if they cannot be read
	 */
	public Set<String> evictionPolicies() {
		return memory().stream()
			.flatMap((node) -> node.stringPropertyNames()
				.stream()
				// In a Cluster, Spring Data prefixes each name with its node.
				.filter((name) -> name.endsWith("maxmemory_policy"))
				.map(node::getProperty))
			.filter((policy) -> !policy.equals("noeviction"))
			.collect(Collectors.toUnmodifiableSet());
	}

	/**
	 * The connections of the application's client, without the proxies of a
	 * {@code RedisTemplate}, and outside a Redis transaction of the application.
	 */
	private static final class AnyClient extends IdempotencyRedisConnection {

		private final RedisConnectionFactory application;

		AnyClient(RedisConnectionFactory application) {
			this.application = application;
		}

		@Override
		Object run(LuaScript script, boolean withDetails, byte[] key, byte[]... arguments) {
			byte[][] values = new byte[1 + arguments.length][];
			values[0] = key;
			System.arraycopy(arguments, 0, values, 1, arguments.length);
			RedisConnection connection = this.application.getConnection();
			try {
				return run(connection, script, withDetails ? ReturnType.MULTI : ReturnType.VALUE, values);
			}
			finally {
				close(connection);
			}
		}

		private static Object run(RedisConnection connection, LuaScript script, ReturnType type, byte[][] values) {
			try {
				return Objects.requireNonNull(connection.scriptingCommands().evalSha(script.digest(), type, 1, values));
			}
			catch (RuntimeException ex) {
				if (!"NOSCRIPT".equals(ErrorReply.codeOf(ex))) {
					throw ex;
				}
				byte[] text = script.text().getBytes(StandardCharsets.UTF_8);
				return Objects.requireNonNull(connection.scriptingCommands().eval(text, type, 1, values));
			}
		}

		/**
		 * A failure must not hide the outcome, which is known.
		 */
		private static void close(RedisConnection connection) {
			try {
				connection.close();
			}
			catch (RuntimeException ex) {
				logger.debug("A Redis connection could not be closed", ex);
			}
		}

		@Override
		List<Properties> memory() {
			try (RedisConnection connection = this.application.getConnection()) {
				Properties memory = connection.serverCommands().info("memory");
				return (memory != null) ? List.of(memory) : List.of();
			}
		}

		@Override
		String describe() {
			return "Redis";
		}

	}

	/**
	 * Native connections, which cost less than the connections of Spring Data that are
	 * created for each command: one for all threads, or one for each use if replicas must
	 * confirm it, since {@code WAIT} blocks the connection that wrote. Apart from its
	 * superclass, which must link without Lettuce.
	 */
	private static final class LettuceClient extends IdempotencyRedisConnection {

		private static final LettuceExceptionConverter EXCEPTIONS = new LettuceExceptionConverter();

		private final DedicatedRedisConnections connections;

		private final int replicas;

		private final Duration waitTimeout;

		LettuceClient(LettuceConnectionFactory application, Duration timeout, int replicas, Duration waitTimeout) {
			this.connections = DedicatedRedisConnections.to(application, timeout);
			this.replicas = replicas;
			this.waitTimeout = waitTimeout;
		}

		@Override
		Object run(LuaScript script, boolean withDetails, byte[] key, byte[]... arguments) {
			ScriptOutputType type = withDetails ? ScriptOutputType.MULTI : ScriptOutputType.VALUE;
			byte[][] keys = { key };
			try {
				return use((connection) -> {
					Object reply = connection.run(script, type, keys, arguments);
					if (this.replicas > 0 && mustSurviveFailover(reply)) {
						requireReplicas(connection);
					}
					return reply;
				});
			}
			catch (RedisException ex) {
				throw Objects.requireNonNull(EXCEPTIONS.convert(ex));
			}
		}

		private static boolean mustSurviveFailover(Object reply) {
			String outcome = outcome(reply);
			return outcome.equals("ACQUIRED") || outcome.equals("KEPT");
		}

		private void requireReplicas(DedicatedRedisConnection connection) {
			long confirmed = connection
				.await(connection.commands().waitForReplication(this.replicas, this.waitTimeout.toMillis()));
			if (confirmed < this.replicas) {
				throw new DataAccessResourceFailureException(
						"%d of the %d replicas that idempotent.redis.wait-replicas requires confirmed within %s"
							.formatted(confirmed, this.replicas, this.waitTimeout));
			}
		}

		@Override
		List<Properties> memory() {
			return use((connection) -> (connection
				.commands() instanceof RedisAdvancedClusterAsyncCommands<byte[], byte[]> cluster)
						? cluster.upstream()
							.commands()
							.info("memory")
							.stream()
							.map(CompletableFuture::join)
							.map(LettuceClient::properties)
							.toList()
						: List.of(properties(connection.await(connection.commands().info("memory")))));
		}

		private static Properties properties(String info) {
			Properties properties = new Properties();
			try {
				properties.load(new StringReader(info));
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
			return properties;
		}

		private <T> T use(Function<DedicatedRedisConnection, T> work) {
			return (this.replicas == 0) ? this.connections.useShared(work) : this.connections.use(work);
		}

		@Override
		String describe() {
			if (this.replicas == 0) {
				return "Redis";
			}
			return "Redis with " + this.replicas + ((this.replicas == 1) ? " replica" : " replicas");
		}

		@Override
		public void close() {
			super.close();
			this.connections.close();
		}

	}

}
