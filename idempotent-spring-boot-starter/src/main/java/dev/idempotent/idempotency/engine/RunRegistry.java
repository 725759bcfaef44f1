package dev.idempotent.idempotency.engine;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.RunOrigin;
import org.jspecify.annotations.Nullable;

/**
 * The runs under a lease in this process, by their token. A run that never ends, such as
 * one that waits for an abandoned future, is removed when what could complete it was
 * garbage-collected.
 */
final class RunRegistry {

	private final Map<String, Entry> runs = new ConcurrentHashMap<>();

	private final ReferenceQueue<Run> unreachable = new ReferenceQueue<>();

	void begin(Run run) {
		removeUnreachable();
		this.runs.put(run.token(), new Entry(run, this.unreachable));
	}

	void end(Run run) {
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
	Run of(@Nullable IdempotencyContext context) {
		if (context == null) {
			throw new IllegalStateException("A step was called outside an idempotent run. Call it from a method or "
					+ "handler with @Idempotent, or from the work of IdempotencyTemplate.execute; a request without a "
					+ "key has no run, and another thread needs the context of the run");
		}
		Entry entry = this.runs.get(context.token());
		Run run = (entry != null) ? entry.get() : null;
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

	/**
	 * A run, as its steps see it.
	 */
	static final class Run {

		private final LeasedKey claim;

		private final Set<String> steps = new HashSet<>();

		private volatile long confirmed;

		private volatile boolean mismatched;

		/**
		 * Creates a run.
		 * @param claimed when the call began that claimed its key: the reply may have
		 * taken longer than the lease
		 */
		Run(LeasedKey claim, long claimed) {
			this.claim = claim;
			this.confirmed = claimed;
		}

		IdempotencyKey key() {
			return this.claim.request().key();
		}

		String token() {
			return this.claim.request().token();
		}

		/**
		 * Creates the request of a step.
		 * @throws IllegalStateException if this run has already called a step of that
		 * name
		 * @throws IdempotencyMismatchException if a step of the same key belongs to
		 * another request, for which no further step may be recorded
		 */
		ClaimRequest requestOf(String step) {
			if (this.mismatched) {
				throw new IdempotencyMismatchException(key());
			}
			synchronized (this.steps) {
				if (!this.steps.add(step)) {
					throw new IllegalStateException("The step '" + step + "' was already called in this run. Give each "
							+ "step a name of its own, such as the number of the line in a loop, and put retries "
							+ "inside of the step");
				}
			}
			return this.claim.request().ofStep(step);
		}

		/**
		 * Returns whether this run still owns its key. The store is called only if half a
		 * lease has passed since it last confirmed this.
		 */
		boolean isCurrent() {
			return System.nanoTime() - this.confirmed < this.claim.request().lease().toNanos() / 2 || confirm();
		}

		/**
		 * Has the store confirm that this run still owns its key.
		 * @return {@code false} if another run has it
		 */
		boolean confirm() {
			long start = System.nanoTime();
			boolean current = this.claim.confirm();
			if (current) {
				this.confirmed = start;
			}
			return current;
		}

		/**
		 * Records that a step of the same key belongs to another request.
		 */
		void mismatch() {
			this.mismatched = true;
		}

		boolean isMismatched() {
			return this.mismatched;
		}

	}

	private static final class Entry extends WeakReference<Run> {

		private final String token;

		Entry(Run run, ReferenceQueue<Run> unreachable) {
			super(run, unreachable);
			this.token = run.token();
		}

	}

}
