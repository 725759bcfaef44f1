package dev.idempotent.sample.crash.site;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.awaitility.Awaitility;

/**
 * A master and its replica, watched by a Sentinel that lets the replica take over one
 * second after the master has ended or stalled.
 */
final class SentinelRedis implements CrashableRedis {

	private static final String NAME = "shop";

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private final List<KillableRedis> servers;

	private final KillableRedis sentinel;

	private KillableRedis held;

	SentinelRedis(Path folder) {
		KillableRedis first = new KillableRedis(folder, "redis-1");
		KillableRedis second = new KillableRedis(folder, "redis-2");
		this.servers = List.of(first, second);
		this.held = first;
		start(first, first);
		start(second, first);
		this.sentinel = new KillableRedis(folder, "sentinel");
		this.sentinel.start(configuration(folder, first).toString(), "--sentinel");
		awaitReady();
	}

	private static Path configuration(Path folder, KillableRedis master) {
		try {
			return Files.writeString(folder.resolve("sentinel.conf"), """
					sentinel monitor %1$s %2$s %3$d 1
					sentinel down-after-milliseconds %1$s 1000
					sentinel failover-timeout %1$s 3000
					""".formatted(NAME, Ports.HOST, master.wire().port()));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Clients, the Sentinel and the replica all connect through the wires.
	 */
	private static void start(KillableRedis server, KillableRedis master) {
		String own = Integer.toString(server.wire().port());
		List<String> settings = new ArrayList<>(List.of("--save", "", "--replica-announce-ip", Ports.HOST,
				"--replica-announce-port", own, "--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0"));
		if (server != master) {
			settings.addAll(List.of("--replicaof", Ports.HOST, Integer.toString(master.wire().port())));
		}
		server.start(settings.toArray(String[]::new));
	}

	@Override
	public List<String> arguments() {
		return List.of("--spring.data.redis.sentinel.master=" + NAME,
				"--spring.data.redis.sentinel.nodes=" + Ports.HOST + ":" + this.sentinel.port());
	}

	private KillableRedis master() {
		String reply = this.sentinel.ask("SENTINEL get-master-addr-by-name " + NAME);
		return this.servers.stream()
			.filter((server) -> reply.endsWith("\r\n" + server.wire().port() + "\r\n"))
			.findFirst()
			.orElseThrow();
	}

	@Override
	public int port() {
		return master().port();
	}

	@Override
	public boolean keepsStreams() {
		return false;
	}

	@Override
	public void flush() {
		master().flush();
	}

	@Override
	public void stop(boolean graceful) {
		master().stop(graceful);
	}

	@Override
	public void start() {
		for (KillableRedis server : this.servers) {
			if (!server.isAlive()) {
				start(server, master());
			}
		}
	}

	@Override
	public void hold() {
		this.held = master();
		this.held.wire().hold();
	}

	@Override
	public void resume() {
		this.held.wire().resume();
	}

	@Override
	public void cut() {
		this.servers.forEach((server) -> server.wire().cut());
	}

	@Override
	public void loseReply() {
		master().wire().loseReply("");
	}

	@Override
	public boolean failsOver() {
		return true;
	}

	@Override
	public void awaitReady() {
		Awaitility.await("a replica that is up to date")
			.atMost(PATIENCE)
			.until(() -> master().ask("INFO replication").contains("state=online"));
	}

	@Override
	public void close() {
		this.sentinel.close();
		this.servers.forEach(KillableRedis::close);
	}

}
