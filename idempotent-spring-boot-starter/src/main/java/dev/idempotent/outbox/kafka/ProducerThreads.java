package dev.idempotent.outbox.kafka;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import dev.idempotent.concurrent.Workers;
import org.apache.kafka.common.errors.InterruptException;

/**
 * Threads for calls of a producer that have no timeout: they wait for its own thread,
 * which may have died, or for a name server.
 */
final class ProducerThreads implements AutoCloseable {

	private final ExecutorService threads = Executors.newCachedThreadPool(Workers.daemons("outbox-kafka-"));

	<T> CompletableFuture<T> call(Supplier<T> call) {
		return CompletableFuture.supplyAsync(call, this.threads);
	}

	/**
	 * Waits for a call, and interrupts it if it takes too long.
	 * @return whether it has ended in time
	 * @throws InterruptException if this thread is interrupted
	 */
	boolean run(Runnable call, Duration limit) {
		Future<?> result = this.threads.submit(call);
		try {
			result.get(limit.toNanos(), TimeUnit.NANOSECONDS);
			return true;
		}
		catch (ExecutionException ex) {
			return true;
		}
		catch (TimeoutException ex) {
			return false;
		}
		catch (InterruptedException ex) {
			// Also interrupts the thread.
			throw new InterruptException(ex);
		}
		finally {
			result.cancel(true);
		}
	}

	@Override
	public void close() {
		this.threads.shutdown();
	}

}
