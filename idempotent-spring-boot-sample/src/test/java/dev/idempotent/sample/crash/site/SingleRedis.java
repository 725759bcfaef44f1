package dev.idempotent.sample.crash.site;

import java.nio.file.Path;
import java.util.List;

/**
 * One server.
 */
final class SingleRedis implements CrashableRedis {

	private final KillableRedis server;

	SingleRedis(Path folder) {
		this.server = new KillableRedis(folder, "redis");
		this.server.start("--save", "");
	}

	@Override
	public List<String> arguments() {
		return List.of("--spring.data.redis.host=" + Ports.HOST,
				"--spring.data.redis.port=" + this.server.wire().port());
	}

	@Override
	public void flush() {
		this.server.flush();
	}

	@Override
	public void stop(boolean graceful) {
		this.server.stop(graceful);
	}

	@Override
	public void start() {
		this.server.start("--save", "");
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
