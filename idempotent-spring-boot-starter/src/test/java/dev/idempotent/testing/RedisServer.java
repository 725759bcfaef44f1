package dev.idempotent.testing;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.springframework.util.Assert;
import org.springframework.util.FileSystemUtils;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import redis.embedded.core.ExecutableProvider;
import redis.embedded.core.RedisServerBuilder;

/**
 * A Redis on a port that it keeps for life. Starting and stopping are repeatable; what is
 * stored does not outlive a stop.
 */
interface RedisServer extends AutoCloseable {

	static RedisServer started() {
		RedisServer server = TestServices.inContainer(Container.IMAGE) ? new Container() : new Embedded();
		server.start();
		return server;
	}

	String host();

	int port();

	void start();

	void stop();

	@Override
	default void close() {
		stop();
	}

	/**
	 * Redis in a container.
	 */
	final class Container extends ContainerServer implements RedisServer {

		static final String IMAGE = "redis:7.4-alpine";

		private static final int REDIS_PORT = 6379;

		Container() {
			super(new GenericContainer<>(IMAGE).withCommand("redis-server", "--save", "")
				.waitingFor(Wait.forLogMessage(".*Ready to accept connections.*\\n", 1)), REDIS_PORT);
		}

		@Override
		public void start() {
			container().start();
		}

		@Override
		public void stop() {
			container().stop();
		}

	}

	/**
	 * Redis as a process of this machine, from the binary in a Maven artifact or the one
	 * that the environment variable {@code EMBEDDED_REDIS_EXECUTABLE} names.
	 */
	final class Embedded implements RedisServer {

		static final String HOST = "127.0.0.1";

		private final int port = Ports.free();

		private final redis.embedded.RedisServer process;

		Embedded() {
			this("save \"\"");
		}

		private Embedded(String... settings) {
			try {
				RedisServerBuilder builder = redis.embedded.RedisServer.newRedisServer()
					.executableProvider(executable())
					.bind(HOST)
					.port(this.port);
				List.of(settings).forEach(builder::setting);
				this.process = builder.build();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

		/**
		 * A server that persists each write before it confirms it.
		 */
		static Embedded persistent(Path folder) {
			return new Embedded("save \"\"", "appendonly yes", "appendfsync always", "dir " + folder);
		}

		static ExecutableProvider executable() {
			String path = System.getenv(ExecutableProvider.ENVIRONMENT_EXECUTABLE_LOCATION);
			return (path != null) ? () -> new File(path) : ExecutableProvider.newJarResourceProvider();
		}

		@Override
		public String host() {
			return HOST;
		}

		@Override
		public int port() {
			return this.port;
		}

		@Override
		public void start() {
			try {
				this.process.start();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(
						"The embedded Redis did not start. On Linux its binary needs libssl.so.3: "
								+ "install that, or name another redis-server with EMBEDDED_REDIS_EXECUTABLE",
						ex);
			}
		}

		@Override
		public void stop() {
			try {
				this.process.stop();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

	}

	/**
	 * Redis as a process of this machine that persists each write before it confirms it.
	 */
	final class Persistent implements RedisServer {

		private static final Pattern PROCESS_ID = Pattern.compile("process_id:(\\d+)");

		private final Path folder;

		private final Embedded server;

		private Persistent() {
			try {
				this.folder = Files.createTempDirectory("redis");
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
			this.server = Embedded.persistent(this.folder);
		}

		static Persistent started() {
			Persistent redis = new Persistent();
			redis.start();
			return redis;
		}

		@Override
		public String host() {
			return this.server.host();
		}

		@Override
		public int port() {
			return this.server.port();
		}

		@Override
		public void start() {
			this.server.start();
		}

		@Override
		public void stop() {
			this.server.stop();
		}

		/**
		 * Ends the process at once, as a power cut would.
		 */
		void kill() {
			ProcessHandle.of(processId()).ifPresent((process) -> {
				process.destroyForcibly();
				process.onExit().orTimeout(60, TimeUnit.SECONDS).join();
			});
			this.server.stop();
		}

		private long processId() {
			try (Socket socket = new Socket(host(), port())) {
				socket.getOutputStream().write("INFO server\r\nQUIT\r\n".getBytes(StandardCharsets.US_ASCII));
				InputStream reply = socket.getInputStream();
				Matcher id = PROCESS_ID.matcher(new String(reply.readAllBytes(), StandardCharsets.US_ASCII));
				Assert.state(id.find(), "Redis did not tell its process");
				return Long.parseLong(id.group(1));
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

		@Override
		public void close() {
			stop();
			FileSystemUtils.deleteRecursively(this.folder.toFile());
		}

	}

}
