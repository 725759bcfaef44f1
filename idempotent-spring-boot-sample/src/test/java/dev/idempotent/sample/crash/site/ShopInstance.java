package dev.idempotent.sample.crash.site;

import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import org.springframework.util.Assert;

/**
 * One instance of the shop, in a JVM that starts again whenever it has ended.
 */
public final class ShopInstance implements AutoCloseable {

	private static final Pattern HALTING = Pattern.compile("Halting ([a-z-]+), as requested by X-Chaos");

	private static final int RETRY_MILLIS = 300;

	private final int port = Ports.free();

	private final String name;

	private final List<String> command;

	private final Path log;

	private final Journal journal;

	private volatile @Nullable Life life;

	private volatile boolean closed;

	ShopInstance(String name, ShopBuild build, List<String> arguments, Path folder, Journal journal) {
		this.name = name;
		List<String> own = new ArrayList<>(arguments);
		own.add("--server.port=" + this.port);
		this.command = build.command(own);
		this.log = folder.resolve(name + ".log");
		this.journal = journal;
		start(1);
	}

	private synchronized void start(int number) {
		if (!this.closed) {
			this.life = new Life(number);
		}
	}

	public URI uri(String path) {
		return URI.create("http://" + Ports.HOST + ":" + this.port + path);
	}

	/**
	 * The current life of the instance, such as {@code shop-2/7}.
	 */
	public String life() {
		return current().toString();
	}

	/**
	 * Whether the instance takes requests.
	 */
	public boolean isReady() {
		return current().ready;
	}

	/**
	 * Ends the JVM as {@code kill -9} does.
	 */
	public void kill() {
		Life killed = current();
		killed.cause = "kill";
		killed.process.kill();
	}

	/**
	 * Stops the JVM between two instructions, until {@link #resume()}.
	 */
	public void pause() {
		current().process.signal("STOP");
	}

	public void resume() {
		current().process.signal("CONT");
	}

	@Override
	public synchronized void close() {
		this.closed = true;
		current().process.kill();
	}

	private Life current() {
		Life life = this.life;
		Assert.state(life != null, "An instance starts with its construction");
		return life;
	}

	/**
	 * From one start of the JVM to its end.
	 */
	private final class Life {

		private final int number;

		private final ChildProcess process;

		private volatile boolean ready;

		private volatile String cause = "end";

		Life(int number) {
			this.number = number;
			this.process = ChildProcess.start(ShopInstance.this.command, ShopInstance.this.log, this::hear,
					this::ended);
		}

		private void hear(String line) {
			Matcher halting = HALTING.matcher(line);
			if (halting.find()) {
				this.cause = "halt-" + halting.group(1);
			}
			if (line.contains("Started CouponShopApplication")) {
				this.ready = true;
			}
		}

		private void ended() {
			boolean wasReady = this.ready;
			this.ready = false;
			ShopInstance.this.journal.died(toString(), this.cause, System.currentTimeMillis());
			// One that fails to start lacks a server, which may be back soon.
			CompletableFuture.delayedExecutor(wasReady ? 0 : RETRY_MILLIS, TimeUnit.MILLISECONDS)
				.execute(() -> start(this.number + 1));
		}

		@Override
		public String toString() {
			return ShopInstance.this.name + "/" + this.number;
		}

	}

}
