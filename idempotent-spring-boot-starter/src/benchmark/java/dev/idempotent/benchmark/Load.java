package dev.idempotent.benchmark;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.function.LongPredicate;

/**
 * Clients that do the same thing again and again.
 *
 * @param clients how many threads
 */
public record Load(int clients) {

	/**
	 * Each client begins again as soon as it has ended, until the time is over.
	 * @param time how long
	 * @param work what to do; if it throws, so does this method
	 * @return how much was done
	 */
	public Throughput during(Duration time, Runnable work) {
		AtomicLong done = new AtomicLong();
		long nanos = run((begin) -> {
			work.run();
			done.incrementAndGet();
			return System.nanoTime() - begin < time.toNanos();
		});
		return new Throughput(done.get(), nanos);
	}

	/**
	 * The clients share a number of runs among them.
	 * @param count how many runs
	 * @param work what to do; if it throws, so does this method
	 * @return how much was done
	 */
	public Throughput times(int count, Runnable work) {
		AtomicLong begun = new AtomicLong();
		long nanos = run((begin) -> {
			if (begun.incrementAndGet() > count) {
				return false;
			}
			work.run();
			return true;
		});
		return new Throughput(count, nanos);
	}

	/**
	 * The clients take turns, at even intervals that do not depend on how long a run
	 * takes as long as there are enough of them.
	 * @param perSecond how many runs in a second
	 * @param time how long
	 * @param work what to do, given the {@link System#nanoTime} at which it was due; if
	 * it throws, so does this method
	 * @return how much was done
	 */
	public Throughput paced(int perSecond, Duration time, LongConsumer work) {
		long count = time.toNanos() * perSecond / 1_000_000_000L;
		AtomicLong ticks = new AtomicLong();
		long nanos = run((begin) -> {
			long tick = ticks.getAndIncrement();
			if (tick >= count) {
				return false;
			}
			long due = begin + tick * 1_000_000_000L / perSecond;
			waitUntil(due);
			work.accept(due);
			return true;
		});
		return new Throughput(count, nanos);
	}

	private static void waitUntil(long nanoTime) {
		for (long left = nanoTime - System.nanoTime(); left > 0; left = nanoTime - System.nanoTime()) {
			LockSupport.parkNanos(left);
		}
	}

	private long run(LongPredicate step) {
		ExecutorService threads = Executors.newFixedThreadPool(this.clients);
		try {
			CompletableFuture<Long> start = new CompletableFuture<>();
			List<CompletableFuture<Void>> running = new ArrayList<>();
			for (int client = 0; client < this.clients; client++) {
				running.add(CompletableFuture.runAsync(() -> repeat(step, start.join()), threads));
			}
			long begin = System.nanoTime();
			start.complete(begin);
			running.forEach(CompletableFuture::join);
			return System.nanoTime() - begin;
		}
		finally {
			threads.shutdownNow();
		}
	}

	private static void repeat(LongPredicate step, long begin) {
		boolean more = true;
		while (more) {
			more = step.test(begin);
		}
	}

}
