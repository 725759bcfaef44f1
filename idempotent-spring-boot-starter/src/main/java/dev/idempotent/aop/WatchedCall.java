package dev.idempotent.aop;

import org.jspecify.annotations.Nullable;

/**
 * One call of a method through its advice, as observed next to the method itself:
 * whether, how often and where the method was entered, and how its last entry has ended.
 * The advice in between may leave the method out, repeat it, run it on another thread, or
 * hide its exception.
 */
public final class WatchedCall {

	private final Thread thread = Thread.currentThread();

	private int entries;

	private int inside;

	private boolean returned;

	private @Nullable Throwable failure;

	/**
	 * Returns whether the calling thread is the one that has made the call.
	 * @return whether the calling thread has its transaction and context
	 */
	public boolean isOnItsThread() {
		return Thread.currentThread() == this.thread;
	}

	/**
	 * Records that the method is entered.
	 */
	public synchronized void enter() {
		this.entries++;
		this.inside++;
		this.returned = false;
	}

	/**
	 * Records that an entry has ended.
	 * @param thrown what the method has thrown, or {@code null} if it has returned
	 */
	public synchronized void leave(@Nullable Throwable thrown) {
		this.inside--;
		this.returned = thrown == null;
		this.failure = thrown;
	}

	/**
	 * Returns how often the method was entered.
	 * @return the number of entries
	 */
	public synchronized int entries() {
		return this.entries;
	}

	/**
	 * Returns whether the method was entered and has neither returned nor thrown.
	 * @return whether the method is running
	 */
	public synchronized boolean isInside() {
		return this.inside > 0;
	}

	/**
	 * Returns whether the entry that has ended last has returned normally, and none has
	 * begun since.
	 * @return whether the method has returned
	 */
	public synchronized boolean isReturned() {
		return this.returned;
	}

	/**
	 * Returns what the entry that has ended last has thrown.
	 * @return the exception, or {@code null} if none has ended or the last one has
	 * returned
	 */
	public synchronized @Nullable Throwable failure() {
		return this.failure;
	}

}
