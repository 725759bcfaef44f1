package dev.idempotent.sample.servers;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import redis.embedded.core.ExecutableProvider;
import redis.embedded.core.PortProvider;

/**
 * A Redis without persistence on a free port of the loopback address. Stops with the
 * application. Clients reach it through a proxy, so that it can be cut off.
 */
public final class RedisServer implements DataRedisConnectionDetails, AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(RedisServer.class);

	private static final String READY = "Ready to accept connections";

	private static final String ACTION = "Install OpenSSL 3 (libssl.so.3, the package libssl3 on Debian and Ubuntu), which "
			+ "the Redis that comes with this application needs on Linux; or set EMBEDDED_REDIS_EXECUTABLE to the path "
			+ "of another redis-server; or set spring.data.redis.host and spring.data.redis.port to a running Redis.";

	private static final String WIPE = """
			for _, key in ipairs(redis.call('KEYS', '*')) do
			  if redis.call('TYPE', key).ok ~= 'stream' then
			    redis.call('UNLINK', key)
			  end
			end
			""";

	private final AtomicInteger wipes = new AtomicInteger();

	private final Process process;

	private final int port;

	private final TcpProxy proxy;

	private RedisServer(Process process, int port, TcpProxy proxy) {
		this.process = process;
		this.port = port;
		this.proxy = proxy;
	}

	/**
	 * Starts a server and waits until it is ready.
	 * @param executable the redis-server to start, or {@code null} for the bundled one
	 * @throws EmbeddedServerException if it does not start
	 */
	static RedisServer start(@Nullable Path executable) {
		int port = PortProvider.newEphemeralPortProvider().get();
		try {
			// Not the library's own RedisServer: its shutdown hook would stop Redis
			// during the requests that a graceful shutdown waits for.
			Path binary = (executable != null) ? executable
					: ExecutableProvider.newJarResourceProvider().get().toPath();
			Process process = new ProcessBuilder(binary.toString(), "--bind", "127.0.0.1", "--port",
					Integer.toString(port), "--save", "", "--appendonly", "no")
				.redirectErrorStream(true)
				.start();
			awaitReady(process);
			TcpProxy proxy = TcpProxy.open(port);
			logger.info(
					"Redis runs on 127.0.0.1:{}. Another instance shares it with "
							+ "--spring.data.redis.host=127.0.0.1 --spring.data.redis.port={}",
					proxy.port(), proxy.port());
			return new RedisServer(process, port, proxy);
		}
		catch (IOException ex) {
			throw new EmbeddedServerException("The embedded Redis could not be started: " + ex.getMessage(), ACTION,
					ex);
		}
	}

	private static void awaitReady(Process process) throws IOException {
		BufferedReader output = process.inputReader();
		StringBuilder said = new StringBuilder();
		for (String line = output.readLine(); line != null; line = output.readLine()) {
			if (line.contains(READY)) {
				drain(output);
				return;
			}
			said.append(System.lineSeparator()).append(line);
		}
		throw new EmbeddedServerException("The embedded Redis ended before it was ready, with the output:" + said,
				ACTION);
	}

	private static void drain(BufferedReader output) {
		Thread thread = new Thread(() -> {
			try {
				output.lines().forEach(logger::debug);
			}
			catch (UncheckedIOException ex) {
				logger.debug("The output of Redis has ended", ex);
			}
		}, "redis-output");
		thread.setDaemon(true);
		thread.start();
	}

	@Override
	public Standalone getStandalone() {
		return Standalone.of("127.0.0.1", this.proxy.port());
	}

	/**
	 * Resets the connections of all clients and refuses new ones, until
	 * {@link #restore()}. The data remains.
	 */
	public void cut() {
		try {
			this.proxy.cut();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Ends the outage that {@link #cut()} has begun.
	 */
	public void restore() {
		try {
			this.proxy.restore();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Returns whether clients can connect.
	 */
	public boolean isAvailable() {
		return this.proxy.isOpen();
	}

	/**
	 * Deletes all keys but streams, which hold events that no table holds any more. Works
	 * during an outage, too.
	 */
	public void wipe() {
		try (RedisClient client = RedisClient.create(RedisURI.create("127.0.0.1", this.port));
				StatefulRedisConnection<String, String> connection = client.connect()) {
			connection.sync().eval(WIPE, ScriptOutputType.STATUS);
		}
		this.wipes.incrementAndGet();
	}

	/**
	 * Returns how often the data was wiped.
	 */
	public int wipes() {
		return this.wipes.get();
	}

	@Override
	public void close() throws IOException {
		this.proxy.close();
		this.process.destroy();
		this.process.onExit().join();
	}

}
