package dev.idempotent.sample.stock;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Runs tasks at the same time.
 */
final class Concurrently {

	private Concurrently() {
	}

	/**
	 * Runs one task many times and returns the results.
	 */
	static <T> List<T> run(int times, Supplier<T> task) {
		return run(IntStream.range(0, times).mapToObj((number) -> task).toList());
	}

	/**
	 * Runs each task once and returns their results in the same order.
	 */
	static <T> List<T> run(List<Supplier<T>> tasks) {
		ExecutorService threads = Executors.newFixedThreadPool(tasks.size());
		try {
			CountDownLatch ready = new CountDownLatch(tasks.size());
			return tasks.stream().map((task) -> CompletableFuture.supplyAsync(() -> {
				ready.countDown();
				await(ready);
				return task.get();
			}, threads)).toList().stream().map(CompletableFuture::join).toList();
		}
		finally {
			threads.shutdown();
		}
	}

	private static void await(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
