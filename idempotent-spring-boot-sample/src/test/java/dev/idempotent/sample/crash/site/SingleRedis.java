package dev.idempotent.sample.crash.site;

import java.nio.file.Path;
import java.util.List;

import org.awaitility.Awaitility;
import org.springframework.util.Assert;

/**
 * One server, which persists each write before it confirms it. A flush removes all keys
 * but the streams: an event that Redis has confirmed and lost has not been lost by the
 * outbox.
 */
final class SingleRedis implements CrashableRedis {

	private static final String FORGET = "EVAL \"for _, key in ipairs(redis.call('KEYS', '*')) do "
			+ "if redis.call('TYPE', key).ok ~= 'stream' then redis.call('DEL', key) end end "
			+ "return redis.status_reply('OK')\" 0";

	private final KillableRedis server;

	SingleRedis(Path folder) {
		this.server = KillableRedis.withMemory(folder, "redis");
		start();
	}

	@Override
	public List<String> arguments() {
		return List.of("--spring.data.redis.host=" + Ports.HOST,
				"--spring.data.redis.port=" + this.server.wire().port());
	}

	@Override
	public int port() {
		return this.server.port();
	}

	@Override
	public boolean keepsStreams() {
		return true;
	}

	@Override
	public void flush() {
		String reply = this.server.ask(FORGET);
		Assert.state(reply.startsWith("+OK"), () -> "Redis did not forget but answered " + reply);
	}

	@Override
	public void stop(boolean graceful) {
		this.server.stop(graceful);
	}

	@Override
	public void start() {
		this.server.start("--save", "", "--appendonly", "yes", "--appendfsync", "always");
		Awaitility.await("Redis to read what it had written").until(() -> this.server.ask("PING").startsWith("+PONG"));
		flush();
	}

	@Override
	public void hold() {
		this.server.wire().hold();
	}

	@Override
	public void resume() {
		this.server.wire().resume();
	}

	@Override
	public void cut() {
		this.server.wire().cut();
	}

	@Override
	public void loseReply() {
		this.server.wire().loseReply("");
	}

	@Override
	public boolean failsOver() {
		return false;
	}

	@Override
	public void awaitReady() {
		// It is ready as soon as it has started.
	}

	@Override
	public void close() {
		this.server.close();
	}

}
