package dev.idempotent.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;

import dev.idempotent.testing.RedisServer.Persistent;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.Assert;

/**
 * A running Redis for a test class, registered as a static field:
 * {@code @RegisterExtension static final RealRedis redis = RealRedis.shared();}. The
 * system property {@code test.services} ({@code docker} or {@code embedded}) overrules
 * where it comes from.
 */
public final class RealRedis implements BeforeAllCallback, RedisTopology {

	private static final int REPLY_TIMEOUT_MILLIS = 60_000;

	private final boolean shared;

	private final boolean persistent;

	private @Nullable RedisServer server;

	private @Nullable Store resources;

	private RealRedis(boolean shared, boolean persistent) {
		this.shared = shared;
		this.persistent = persistent;
	}

	/**
	 * The one server of this JVM, which no test can stop; it keeps what other classes
	 * wrote until somebody flushes it.
	 */
	public static RealRedis shared() {
		return new RealRedis(true, false);
	}

	/**
	 * A server for this test class alone, which it may stop and start.
	 */
	public static RealRedis dedicated() {
		return new RealRedis(false, false);
	}

	/**
	 * A process for this test class alone that keeps what it has confirmed when it is
	 * stopped or killed.
	 */
	public static RealRedis persistent() {
		return new RealRedis(false, true);
	}

	@Override
	public void beforeAll(ExtensionContext context) {
		this.resources = context.getStore(Namespace.create(RealRedis.class, this));
		Store home = this.shared ? context.getRoot().getStore(Namespace.create(RealRedis.class)) : this.resources;
		this.server = home.computeIfAbsent(RedisServer.class,
				(key) -> this.persistent ? Persistent.started() : RedisServer.started(), RedisServer.class);
	}

	public String host() {
		return server().host();
	}

	@Override
	public List<String> properties() {
		return List.of("spring.data.redis.host=" + host(), "spring.data.redis.port=" + port());
	}

	/**
	 * The port, which stays the same when the server is stopped and started.
	 */
	public int port() {
		return server().port();
	}

	/**
	 * A client of its own for the caller, closed after the test class.
	 */
	public LettuceConnectionFactory connect() {
		Assert.state(this.resources != null, "Redis is only there while its test class runs");
		LettuceConnectionFactory client = new LettuceConnectionFactory(host(), port());
		client.afterPropertiesSet();
		this.resources.put(client, (AutoCloseable) client::destroy);
		return client;
	}

	/**
	 * Removes every key.
	 */
	public void flush() {
		command("FLUSHALL");
	}

	/**
	 * Makes this server a replica, which refuses writes on the connections that there
	 * are.
	 */
	public void follow(RealRedis master) {
		Assert.state(!this.shared, "Other tests use the shared Redis");
		command("REPLICAOF " + master.host() + " " + master.port());
	}

	/**
	 * Makes this server a master.
	 */
	public void lead() {
		command("REPLICAOF NO ONE");
	}

	/**
	 * Sends a command that is answered with OK.
	 */
	public void command(String line) {
		// No client: one that saw the server stop could still be waiting to reconnect.
		try (Socket socket = new Socket(host(), port())) {
			socket.setSoTimeout(REPLY_TIMEOUT_MILLIS);
			socket.getOutputStream().write((line + "\r\n").getBytes(StandardCharsets.US_ASCII));
			String reply = new String(socket.getInputStream().readNBytes(3), StandardCharsets.US_ASCII);
			Assert.state(reply.equals("+OK"), () -> "Redis did not do " + line + " but answered " + reply);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Starts the stopped server again, on the same port and empty unless it is
	 * {@link #persistent()}.
	 */
	public void start() {
		dedicatedServer().start();
	}

	/**
	 * Stops the server and loses its data. Only a {@link #dedicated()} one can be
	 * stopped.
	 */
	public void stop() {
		dedicatedServer().stop();
	}

	/**
	 * Ends the process of a {@link #persistent()} server at once.
	 */
	public void kill() {
		Assert.state(server() instanceof Persistent, "Only a persistent Redis can be killed");
		((Persistent) server()).kill();
	}

	private RedisServer dedicatedServer() {
		Assert.state(!this.shared, "Other tests use the shared Redis: stop one from RealRedis.dedicated() instead");
		return server();
	}

	private RedisServer server() {
		Assert.state(this.server != null, "Redis is only there while its test class runs");
		return this.server;
	}

}
