package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

import dev.idempotent.outbox.OutboxObserver;
import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.OutboxTopics;
import dev.idempotent.outbox.jdbc.ClaimedEvent;
import dev.idempotent.outbox.jdbc.QueuedEvent;
import dev.idempotent.outbox.relay.BatchSettlement.Rules;
import dev.idempotent.outbox.relay.LaneQueue.LaneSignal;

/**
 * The workers of a publisher. Each claims and publishes batches.
 */
final class PublisherWorkers extends LaneWorkers {

	/**
	 * How many events of a lane a batch has at most.
	 */
	private static final int MAX_RUN = 100;

	private static final long TURN_MILLIS = 1;

	private final OutboxPublisher publisher;

	private final BatchPublisher batches;

	/**
	 * Held by the worker whose turn it is, until it has published a batch.
	 */
	private final ReentrantLock turn = new ReentrantLock();

	/**
	 * Creates workers without threads.
	 * @param onRecovery called when events that were not kept in memory can be sent again
	 */
	PublisherWorkers(OutboxPublisher publisher, Rules rules, PausedTopics paused, OutboxObserver observer,
			Runnable onRecovery) {
		super(publisher.prefix(), rules, paused, observer, rules.settings().lease(), rules.settings().batchSize(),
				onRecovery);
		this.publisher = publisher;
		this.batches = new BatchPublisher(publisher, circuits());
	}

	@Override
	int threads() {
		return rules().settings().workers();
	}

	@Override
	Duration waitForRoom() {
		return MAX_WAIT;
	}

	@Override
	boolean serves(String topic) {
		return OutboxTopics.publisher(topic).equals(name());
	}

	@Override
	boolean deliverWoken() throws InterruptedException {
		queue().await(MAX_WAIT);
		// Where processors are busy, two workers slow each other down: what one would
		// deliver alone within a millisecond, and in larger batches, takes both longer.
		// After a millisecond, a slow publication is not waited for.
		boolean unused = this.turn.tryLock(TURN_MILLIS, TimeUnit.MILLISECONDS);
		try {
			return deliverWoken(batchSize());
		}
		finally {
			endTurn();
		}
	}

	private void endTurn() {
		if (this.turn.isHeldByCurrentThread()) {
			this.turn.unlock();
		}
	}

	@Override
	void process(Map<Long, LaneSignal> lanes, boolean probe) {
		int limit = (this.publisher.keepsOrder() && !probe) ? Math.max(1, Math.min(MAX_RUN, batchSize() / lanes.size()))
				: 1;
		List<List<QueuedEvent>> together = new ArrayList<>();
		List<QueuedEvent> alone = new ArrayList<>();
		for (List<QueuedEvent> rows : firstOf(lanes, limit)) {
			if (isToBeAlone(rows.get(0))) {
				alone.add(rows.get(0));
			}
			else {
				together.add(rows);
			}
		}
		batches(together).forEach((batch) -> attempt(claim(batch, probe), lanes));
		alone.forEach((row) -> attempt(claim(List.of(row), probe), lanes));
	}

	/**
	 * The last attempt of the event may have ended its process, or kept others from
	 * getting a response.
	 */
	@Override
	boolean isToBeAlone(QueuedEvent row) {
		return row.interrupted() || this.batches.isSuspect(row.place());
	}

	@Override
	void send(List<ClaimedEvent> claims, BooleanSupplier sending, BatchSettlement settlement) {
		this.batches.send(claims, sending, settlement);
		endTurn();
	}

}
