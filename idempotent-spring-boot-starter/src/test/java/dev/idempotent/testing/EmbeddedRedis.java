package dev.idempotent.testing;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;

import redis.embedded.core.ExecutableProvider;
import redis.embedded.core.RedisServerBuilder;

/**
 * Redis as a process of this machine, from the binary in a Maven artifact or the one that
 * the environment variable {@code EMBEDDED_REDIS_EXECUTABLE} names.
 */
final class EmbeddedRedis implements RedisServer {

	static final String HOST = "127.0.0.1";

	private final int port = Ports.free();

	private final redis.embedded.RedisServer process;

	EmbeddedRedis() {
		this("save \"\"");
	}

	private EmbeddedRedis(String... settings) {
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
	static EmbeddedRedis persistent(Path folder) {
		return new EmbeddedRedis("save \"\"", "appendonly yes", "appendfsync always", "dir " + folder);
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
			throw new UncheckedIOException("The embedded Redis did not start. On Linux its binary needs libssl.so.3: "
					+ "install that, or name another redis-server with EMBEDDED_REDIS_EXECUTABLE", ex);
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
