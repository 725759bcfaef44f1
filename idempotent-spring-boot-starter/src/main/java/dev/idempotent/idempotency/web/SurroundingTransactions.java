package dev.idempotent.idempotency.web;

import java.util.function.Consumer;

import dev.idempotent.transaction.End;
import dev.idempotent.transaction.ObservedTransaction;
import dev.idempotent.transaction.TransactionParticipant;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/**
 * The transactions that other code, such as an interceptor, has begun around a run under
 * a lease. What the handler has written may be a part of them, so that they decide
 * whether it was done.
 */
final class SurroundingTransactions implements TransactionParticipant {

	private static final boolean PRESENT = ClassUtils.isPresent(
			"org.springframework.transaction.support.TransactionSynchronizationManager",
			SurroundingTransactions.class.getClassLoader());

	private int open;

	private @Nullable End end;

	private @Nullable Consumer<End> listener;

	private SurroundingTransactions() {
	}

	/**
	 * Participates in the transactions of the calling thread, unless they are read-only.
	 * @return {@code null} if there is none
	 */
	static @Nullable SurroundingTransactions join() {
		ObservedTransaction current = PRESENT ? ObservedTransaction.currentWritable() : null;
		if (current == null || current.isCommitted()) {
			return null;
		}
		SurroundingTransactions joined = new SurroundingTransactions();
		for (ObservedTransaction each : current.withThoseAround()) {
			each.add(joined, null);
			joined.open++;
		}
		return joined;
	}

	/**
	 * Returns how the transactions have ended. If one of them has not, the listener is
	 * told later.
	 * @return {@code null} if one of them has not ended
	 */
	synchronized @Nullable End endOrLater(Consumer<End> later) {
		if (this.open == 0) {
			return this.end;
		}
		this.listener = later;
		return null;
	}

	/**
	 * A savepoint that is set later is one of the handler.
	 */
	@Override
	public Runnable savepoint() {
		return () -> {
		};
	}

	@Override
	public synchronized void undone() {
		this.end = End.ROLLED_BACK;
	}

	@Override
	public void ended(End one) {
		Consumer<End> told;
		End all;
		synchronized (this) {
			all = combine(this.end, one);
			this.end = all;
			this.open--;
			told = (this.open == 0) ? this.listener : null;
		}
		if (told != null) {
			told.accept(all);
		}
	}

	/**
	 * If one of them was rolled back, the work was not done, however the others have
	 * ended.
	 */
	private static End combine(@Nullable End known, End one) {
		if (known == null || known == one) {
			return one;
		}
		return (known == End.ROLLED_BACK || one == End.ROLLED_BACK) ? End.ROLLED_BACK : End.UNKNOWN;
	}

}
