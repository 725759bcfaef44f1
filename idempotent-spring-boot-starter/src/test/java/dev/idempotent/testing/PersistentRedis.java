package dev.idempotent.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.springframework.util.Assert;
import org.springframework.util.FileSystemUtils;

/**
 * Redis as a process of this machine that persists each write before it confirms it.
 */
final class PersistentRedis implements RedisServer {

	private static final Pattern PROCESS_ID = Pattern.compile("process_id:(\\d+)");

	private final Path folder;

	private final EmbeddedRedis server;

	private PersistentRedis() {
		try {
			this.folder = Files.createTempDirectory("redis");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		this.server = EmbeddedRedis.persistent(this.folder);
	}

	static PersistentRedis started() {
		PersistentRedis redis = new PersistentRedis();
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
