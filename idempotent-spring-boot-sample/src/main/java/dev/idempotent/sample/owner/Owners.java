package dev.idempotent.sample.owner;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.stereotype.Component;

/**
 * The child JVMs of this instance: at most one that waits for a checkout, started at the
 * first use, and two that have one.
 */
@Component
class Owners implements DisposableBean {

	private static final Duration START = Duration.ofMinutes(2);

	private static final Duration IDLE = Duration.ofMinutes(10);

	private static final Duration CHECKOUT = Duration.ofMinutes(1);

	/**
	 * For the response of one whose checkout has ended without a crash.
	 */
	private static final Duration FAREWELL = Duration.ofSeconds(3);

	private static final int MOST_BUSY = 2;

	private static final int EVENTS = 20;

	private static final int SHOWN_OF_KEY = 8;

	private final OwnerLauncher launcher;

	/**
	 * Those that have a checkout, with the beginning of its key.
	 */
	private final Map<OwnerProcess, String> busy = new HashMap<>();

	private final Deque<OwnerEvent> events = new ArrayDeque<>();

	private @Nullable OwnerProcess warm;

	private long heard;

	private boolean closed;

	Owners(OwnerLauncher launcher) {
		this.launcher = launcher;
	}

	/**
	 * Starts a child that waits for a checkout, unless there is one.
	 */
	synchronized OwnerProcess prepare() {
		OwnerProcess waiting = this.warm;
		if (waiting == null || !waiting.isAlive()) {
			waiting = this.launcher.start(this::hear, this::replace);
			waiting.limit(IDLE);
			this.warm = waiting;
		}
		return waiting;
	}

	/**
	 * Takes the child that waits, which ends within a minute.
	 * @param key the key of its checkout
	 * @return the child, which takes requests
	 * @throws OwnerUnavailableException if too many are busy, or it does not start
	 */
	OwnerProcess take(String key) {
		OwnerProcess taken = next(key.substring(0, Math.min(key.length(), SHOWN_OF_KEY)));
		try {
			taken.address().get(START.toMillis(), TimeUnit.MILLISECONDS);
			taken.limit(CHECKOUT);
			return taken;
		}
		catch (ExecutionException | TimeoutException ex) {
			taken.kill();
			throw OwnerUnavailableException.notReady();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw OwnerUnavailableException.notReady();
		}
	}

	private synchronized OwnerProcess next(String checkout) {
		if (this.busy.size() >= MOST_BUSY) {
			throw OwnerUnavailableException.busy();
		}
		OwnerProcess taken = prepare();
		this.warm = null;
		this.busy.put(taken, checkout);
		return taken;
	}

	private synchronized void replace(OwnerProcess ended) {
		if (this.busy.remove(ended) != null && !this.closed) {
			prepare();
		}
	}

	private void hear(OwnerProcess owner, OwnerLine line) {
		add(owner, line);
		if (line.word() == OwnerLine.Word.ENDED || line.word() == OwnerLine.Word.FENCED) {
			owner.limit(FAREWELL);
		}
	}

	private synchronized void add(OwnerProcess owner, OwnerLine line) {
		this.heard++;
		this.events.addLast(new OwnerEvent(this.heard, owner.pid(), this.busy.getOrDefault(owner, ""),
				line.word().name(), line.detail(), Instant.now()));
		if (this.events.size() > EVENTS) {
			this.events.removeFirst();
		}
	}

	/**
	 * Returns what there is and what has happened.
	 */
	synchronized State state() {
		OwnerProcess waiting = this.warm;
		return new State(waiting != null && waiting.isAlive(), waiting != null && waiting.isReady(),
				List.copyOf(this.events));
	}

	@Override
	public synchronized void destroy() {
		this.closed = true;
		if (this.warm != null) {
			this.warm.kill();
		}
		this.busy.keySet().forEach(OwnerProcess::kill);
	}

	/**
	 * The child that waits for a checkout, and the latest events of all.
	 *
	 * @param started whether one is started
	 * @param ready whether it takes requests
	 * @param events the events, the oldest first
	 */
	record State(boolean started, boolean ready, List<OwnerEvent> events) {

	}

}
