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

	private static final long FULL_PAUSE_MILLIS = 100;

	private final OrderedOutboxStore store;

	private final Map<String, PublisherRelay> relays;

	private final RelaySettings settings;

	private final WakeUp wakeUp;

	private final StoreFailureLog.Worker failureLog;

	private final ExponentialBackOff polling;

	private BackOffExecution pause;

	/**
	 * After which key the first pass begins.
	 */
	private final long first;

	private long after;

	/**
	 * The last key of the current pass.
	 */
	private long end = Long.MAX_VALUE;

	private boolean wrapsAround = true;

	private boolean found;

	private boolean dueInSlice;

	RecoveryScan(OrderedOutboxStore store, Map<String, PublisherRelay> relays, RelaySettings settings, WakeUp wakeUp,
			StoreFailureLog.Worker failureLog) {
		this.store = store;
		this.relays = relays;
		this.settings = settings;
		this.wakeUp = wakeUp;
		this.failureLog = failureLog;
		this.polling = new ExponentialBackOff(settings.pollInterval().toMillis(), 2);
		this.polling.setMaxInterval(settings.idlePollInterval().toMillis());
		this.pause = this.polling.start();
		// Instances begin at different keys.
		this.first = ThreadLocalRandom.current().nextLong(Long.MAX_VALUE);
		this.after = this.first;
	}

	@Override
	public void run() throws InterruptedException {
		if (this.relays.values().stream().anyMatch(PublisherRelay::isFull)) {
			pause(FULL_PAUSE_MILLIS);
			return;
		}
		long start = System.nanoTime();
		this.dueInSlice = false;
		boolean more = this.failureLog.attempt(this::scanSlice);
		this.found |= this.dueInSlice;
		if (!more) {
			// The end of a pass, or a failure.
			this.pause = this.found ? this.polling.start() : this.pause;
			this.found = false;
			pause(this.pause.nextBackOff());
		}
		else if (!this.dueInSlice) {
			pause(TimeUnit.NANOSECONDS.toMillis(PAUSE_FACTOR * (System.nanoTime() - start)));
		}
	}

	/**
	 * Reads a part of the heads.
	 * @return whether there are more
	 */
	private boolean scanSlice() {
		HeadScan slice = this.store.scan(this.after, SLICE);
		slice.due().forEach((keyHash, topic) -> {
			PublisherRelay relay = this.relays.get(OutboxTopics.publisher(topic));
			if (relay != null) {
				this.dueInSlice = true;
				relay.lookForKey(keyHash, topic);
			}
		});
		boolean wraps = slice.end() && this.wrapsAround;
		boolean ended = !wraps && (slice.end() || slice.last() >= this.end);
		this.end = wraps ? this.first : ended ? Long.MAX_VALUE : this.end;
		this.wrapsAround &= !slice.end();
		this.after = slice.end() || ended ? -1 : slice.last();
		return !ended;
	}

	/**
	 * A call starts a pass at the first key.
	 */
	private void pause(long millis) throws InterruptedException {
		if (millis > 0 && this.wakeUp.await(millis)) {
			this.after = -1;
			this.pause = this.polling.start();
		}
	}

}
