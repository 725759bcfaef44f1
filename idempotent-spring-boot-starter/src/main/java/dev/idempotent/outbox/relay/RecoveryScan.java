package dev.idempotent.outbox.relay;

import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import dev.idempotent.outbox.OrderedOutboxStore;
import dev.idempotent.outbox.OrderedOutboxStore.HeadScan;
import dev.idempotent.outbox.OutboxTopics;
import org.springframework.util.backoff.BackOffExecution;
import org.springframework.util.backoff.ExponentialBackOff;

/**
 * Searches all keys for ordered events that were not handed over: those of dead
 * instances, those whose backoff has ended, and those of other programs. Reads the first
 * rows in small parts, with pauses while it finds none.
 */
final class RecoveryScan implements RepeatingTask.Step {

	private static final int SLICE = 500;

	/**
	 * How long to pause after a slice without due events, as a multiple of its time.
	 */
	private static final int PAUSE_FACTOR = 3;

	/**
	 * Keeps a pass short on a busy machine.
	 */
	private static final long MAX_PAUSE_MILLIS = 20;

	private static final long FULL_PAUSE_MILLIS = 100;

	private final OrderedOutboxStore store;

	private final Map<String, PublisherRelay> relays;

	private final PausedTopics pausedTopics;

	private final RelaySettings settings;

	private final WakeUp wakeUp;

	private final StoreFailureLog.Worker failureLog;

	private final ExponentialBackOff polling;

	private BackOffExecution backoff;

	private Pass pass = new Pass();

	private boolean found;

	private boolean dueInSlice;

	private boolean requested;

	RecoveryScan(OrderedOutboxStore store, Map<String, PublisherRelay> relays, PausedTopics pausedTopics,
			RelaySettings settings, WakeUp wakeUp, StoreFailureLog.Worker failureLog) {
		this.store = store;
		this.relays = relays;
		this.pausedTopics = pausedTopics;
		this.settings = settings;
		this.wakeUp = wakeUp;
		this.failureLog = failureLog;
		this.polling = new ExponentialBackOff(settings.pollInterval().toMillis(), 2);
		this.polling.setMaxInterval(settings.idlePollInterval().toMillis());
		this.backoff = this.polling.start();
	}

	@Override
	public void run() throws InterruptedException {
		// The backlog workers cannot while they publish.
		this.pausedTopics.refresh(this.settings.pollInterval());
		if (this.relays.values().stream().anyMatch(PublisherRelay::isFull)) {
			// Each due key that has no space requests a pass.
			Thread.sleep(FULL_PAUSE_MILLIS);
		}
		if (this.relays.values().stream().allMatch(PublisherRelay::isFull)) {
			return;
		}
		long start = System.nanoTime();
		this.dueInSlice = false;
		boolean more = this.failureLog.attempt(this::scanSlice);
		this.found |= this.dueInSlice;
		if (this.failureLog.isFailing()) {
			pause(this.settings.pollInterval().toMillis());
		}
		else if (!more) {
			this.backoff = (this.found || this.requested) ? this.polling.start() : this.backoff;
			this.found = false;
			pause(this.requested ? 0 : this.backoff.nextBackOff());
			this.requested = false;
		}
		else if (!this.dueInSlice) {
			pause(Math.min(MAX_PAUSE_MILLIS,
					TimeUnit.NANOSECONDS.toMillis(PAUSE_FACTOR * (System.nanoTime() - start))));
		}
	}

	/**
	 * Reads a part of the heads.
	 * @return whether there are more
	 */
	private boolean scanSlice() {
		HeadScan slice = this.store.scan(this.pass.after, SLICE);
		slice.due().forEach((keyHash, topic) -> {
			PublisherRelay relay = this.relays.get(OutboxTopics.publisher(topic));
			if (relay != null) {
				this.dueInSlice |= relay.lookForKey(keyHash, topic);
			}
		});
		boolean more = this.pass.advance(slice);
		this.pass = more ? this.pass : new Pass();
		return more;
	}

	/**
	 * A call requests a pass, which begins at once after the current one.
	 */
	private void pause(long millis) throws InterruptedException {
		this.requested |= millis > 0 && this.wakeUp.await(millis);
	}

	/**
	 * A pass over all keys: from a random one, so that instances read different ones, to
	 * the last, and from the first to that one.
	 */
	private static final class Pass {

		private final long start = ThreadLocalRandom.current().nextLong(Long.MAX_VALUE);

		private long after = this.start;

		private boolean wrapped;

		/**
		 * Moves behind a part.
		 * @return whether there are more
		 */
		boolean advance(HeadScan slice) {
			if (slice.end() && !this.wrapped) {
				this.wrapped = true;
				this.after = -1;
				return true;
			}
			this.after = slice.last();
			return !slice.end() && !(this.wrapped && this.after >= this.start);
		}

	}

}
