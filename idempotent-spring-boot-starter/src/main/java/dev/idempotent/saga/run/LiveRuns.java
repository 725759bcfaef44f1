package dev.idempotent.saga.run;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.SagaStatus;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The runs in progress in this process, whose leases are renewed. The lease of a run
 * without progress ends, so that a hanging step does not hold its saga forever.
 */
final class LiveRuns {

	private static final Logger logger = LoggerFactory.getLogger(LiveRuns.class);

	private final Map<SagaRun, Progress> runs = new ConcurrentHashMap<>();

	private final SagaStore store;

	private final SagaSettings settings;

	LiveRuns(SagaStore store, SagaSettings settings) {
		this.store = store;
		this.settings = settings;
	}

	void add(SagaRun run) {
		this.runs.put(run, new Progress(run.progress(), System.nanoTime()));
	}

	void remove(SagaRun run) {
		this.runs.remove(run);
	}

	/**
	 * Returns whether this process still runs a saga in a status, perhaps without its
	 * lease.
	 */
	boolean contains(IdempotencyKey id, SagaStatus status) {
		return this.runs.keySet().stream().anyMatch((run) -> run.id().equals(id) && run.status() == status);
	}

	int count() {
		return this.runs.size();
	}

	/**
	 * Renews the leases of all runs that have made progress.
	 */
	void renew() {
		long now = System.nanoTime();
		this.runs
			.replaceAll((run, last) -> (last.number() == run.progress()) ? last : new Progress(run.progress(), now));
		List<SagaOwner> owners = this.runs.entrySet()
			.stream()
			.filter((each) -> each.getKey().isStored()
					&& now - each.getValue().since() < TimeUnit.MILLISECONDS.toNanos(this.settings.maxRun().toMillis()))
			.map((each) -> Objects.requireNonNull(each.getKey().owner()))
			.toList();
		if (!owners.isEmpty()) {
			try {
				this.store.renew(owners, this.settings.lease());
			}
			catch (RuntimeException ex) {
				logger.debug("The leases of {} sagas could not be renewed", owners.size(), ex);
			}
		}
	}

	private record Progress(int number, long since) {
	}

}
