package dev.idempotent.idempotency.claim;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.RunOrigin;
import org.jspecify.annotations.Nullable;

/**
 * The runs under a lease in this process, by their token. A run that never ends, such as
 * one that waits for an abandoned future, is forgotten with what would end it.
 */
final class LeasedRuns {

	private final Map<String, Entry> runs = new ConcurrentHashMap<>();

	private final ReferenceQueue<LeasedRun> unreachable = new ReferenceQueue<>();

	void begin(LeasedRun run) {
		removeUnreachable();
		this.runs.put(run.token(), new Entry(run, this.unreachable));
	}

	void end(LeasedRun run) {
		this.runs.remove(run.token());
	}

	int count() {
		removeUnreachable();
		return this.runs.size();
	}

	/**
	 * Finds the run that a step belongs to.
	 * @param context the context of the calling thread
	 * @throws IllegalStateException if the context allows no step
	 */
	LeasedRun of(@Nullable IdempotencyContext context) {
		if (context == null) {
			throw new IllegalStateException("A step was called outside an idempotent run. Call it from a method or "
					+ "handler with @Idempotent, or from the work of IdempotencyTemplate.execute; a request without a "
					+ "key has no run, and another thread needs the context of the run");
		}
		Entry entry = this.runs.get(context.token());
		LeasedRun run = (entry != null) ? entry.get() : null;
		if (run == null) {
			throw new IllegalStateException(isTransactional(context)
					? "A step was called in a run under Guarantee.TRANSACTION, where all work commits or rolls back "
							+ "as a whole. Call the work without a step, or use Guarantee.LEASE"
					: "A step was called after the run of key " + context.key()
							+ " had ended. Wait for its steps before the run returns");
		}
		if (!run.key().equals(context.key())) {
			throw new IllegalStateException(
					"A step was called within another step. End the first step before the next one begins");
		}
		return run;
	}

	private static boolean isTransactional(IdempotencyContext context) {
		RunOrigin origin = RunOrigin.ofToken(context.token());
		return origin != null && origin.guarantee() == Guarantee.TRANSACTION;
	}

	private void removeUnreachable() {
		for (Reference<?> each = this.unreachable.poll(); each != null; each = this.unreachable.poll()) {
			this.runs.remove(((Entry) each).token);
		}
	}

	private static final class Entry extends WeakReference<LeasedRun> {

		private final String token;

		Entry(LeasedRun run, ReferenceQueue<LeasedRun> unreachable) {
			super(run, unreachable);
			this.token = run.token();
		}

	}

}
