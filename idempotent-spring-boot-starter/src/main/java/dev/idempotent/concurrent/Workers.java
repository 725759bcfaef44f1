package dev.idempotent.concurrent;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Threads that each repeat a step until all of them are stopped, whatever it throws.
 */
public final class Workers {

	private final boolean daemon;

	private final CountDownLatch stop = new CountDownLatch(1);

	private final List<Thread> threads = new ArrayList<>();

	/**
	 * Creates a group without threads.
	 * @param daemon whether the process may end while they run
	 */
	public Workers(boolean daemon) {
		this.daemon = daemon;
	}

	/**
	 * Creates threads that do not keep the process from ending.
	 * @param prefix the beginning of their names, before a number
	 * @return the factory of an executor
	 */
	public static ThreadFactory daemons(String prefix) {
		AtomicInteger number = new AtomicInteger();
		return (task) -> {
			Thread thread = new Thread(task, prefix + number.incrementAndGet());
			thread.setDaemon(true);
			return thread;
		};
	}

	/**
	 * Starts a thread, unless the group was stopped.
	 * @param name the name of the thread
	 * @param step repeated until the group is stopped
	 * @param onFailure called with any exception or error of the step; what it throws is
	 * lost
	 */
	public synchronized void start(String name, Runnable step, Consumer<Throwable> onFailure) {
		if (isStopped()) {
			return;
		}
		Thread thread = new Thread(() -> repeat(step, onFailure), name);
		thread.setDaemon(this.daemon);
		this.threads.add(thread);
		thread.start();
	}

	/**
	 * Returns whether a step should end soon.
	 * @return whether the group was stopped
	 */
	public boolean isStopped() {
		return this.stop.getCount() == 0;
	}

	/**
	 * Waits on one of the threads, until the group is stopped at the latest.
	 * @param wait the longest wait
	 */
	public void pause(Duration wait) {
		try {
			boolean unused = this.stop.await(wait.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			// Only the step can have interrupted its own thread, which keeps running.
		}
	}

	/**
	 * Starts no further step and waits for those in progress, without an interrupt: an
	 * embedded H2 would close its file.
	 * @param wait the longest wait
	 * @return whether they have ended
	 */
	public boolean stop(Duration wait) {
		long end = System.nanoTime() + wait.toNanos();
		List<Thread> stopping;
		synchronized (this) {
			this.stop.countDown();
			stopping = List.copyOf(this.threads);
		}
		try {
			for (Thread thread : stopping) {
				long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
				thread.join(Math.max(1, left));
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		return stopping.stream().noneMatch(Thread::isAlive);
	}

	private void repeat(Runnable step, Consumer<Throwable> onFailure) {
		while (!isStopped()) {
			try {
				step.run();
			}
			// Errors such as a full heap may be temporary.
			catch (Throwable ex) {
				recover(ex, onFailure);
			}
		}
	}

	private static void recover(Throwable failure, Consumer<Throwable> onFailure) {
		try {
			onFailure.accept(failure);
		}
		catch (Throwable ex) {
			// There is no memory to report it.
		}
	}

}
