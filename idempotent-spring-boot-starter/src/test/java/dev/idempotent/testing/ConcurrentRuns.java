package dev.idempotent.testing;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * Threads that start at the same moment.
 */
public final class ConcurrentRuns {

	private ConcurrentRuns() {
	}

	/**
	 * Starts all runners once each of them is ready.
	 * @return what they came back with, in the order of their numbers
	 * @throws InterruptedException if the race was called off
	 */
	public static <T> List<T> of(int runners, IntFunction<T> part) throws InterruptedException {
		CyclicBarrier start = new CyclicBarrier(runners);
		ExecutorService threads = Executors.newFixedThreadPool(runners);
		try {
			List<Callable<T>> parts = IntStream.range(0, runners).<Callable<T>>mapToObj((number) -> () -> {
				start.await();
				return part.apply(number);
			}).toList();
			List<Future<T>> ends = threads.invokeAll(parts);
			return ends.stream().map(ConcurrentRuns::result).toList();
		}
		finally {
			threads.shutdownNow();
		}
	}

	private static <T> T result(Future<T> end) {
		try {
			return end.get();
		}
		catch (InterruptedException | ExecutionException ex) {
			throw new AssertionError("A runner failed: " + ex.getCause(), ex);
		}
	}

}
