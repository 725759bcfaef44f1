package dev.idempotent.outbox.kafka;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;

/**
 * The producer that all workers share: created with the first event, and again after a
 * failure from which it does not recover.
 */
final class ReplaceableProducer implements AutoCloseable {

	private final Supplier<Producer<byte[], byte[]>> factory;

	private final ProducerThreads threads;

	private final Duration creationTimeout;

	private final Duration closeTimeout;

	private final Duration patience;

	private @Nullable CompletableFuture<Producer<byte[], byte[]>> current;

	private long lastResponse;

	private boolean closed;

	/**
	 * Creates the holder of a producer.
	 * @param settings how long to wait for a producer that is being created, for the
	 * records that are being sent when it is closed, and for responses to it
	 */
	ReplaceableProducer(Supplier<Producer<byte[], byte[]>> factory, ProducerThreads threads,
			ProducerSettings settings) {
		this.factory = factory;
		this.threads = threads;
		this.creationTimeout = settings.deliveryTimeout();
		this.closeTimeout = settings.maxBlock();
		this.patience = settings.patience();
	}

	/**
	 * Returns the producer, or creates it.
	 * @throws RuntimeException if it cannot be created, for example because the name of a
	 * server cannot be resolved, or not in time
	 */
	Producer<byte[], byte[]> get() {
		CompletableFuture<Producer<byte[], byte[]>> creation = creation();
		try {
			return creation.get(this.creationTimeout.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException ex) {
			forget(creation);
			throw new IllegalStateException(ex.getCause());
		}
		catch (TimeoutException ex) {
			throw new IllegalStateException("It could not be created within " + this.creationTimeout);
		}
		catch (InterruptedException ex) {
			// Also interrupts the thread.
			throw new InterruptException(ex);
		}
	}

	/**
	 * Records that a broker has responded.
	 */
	synchronized void responded() {
		this.lastResponse = System.nanoTime();
	}

	/**
	 * Records that no broker has responded. Discards a producer that has got no response
	 * for long: its own thread may have died.
	 */
	void failed(Producer<byte[], byte[]> silent) {
		boolean tooLong;
		synchronized (this) {
			tooLong = System.nanoTime() - this.lastResponse > this.patience.toNanos();
		}
		if (tooLong) {
			discard(silent);
		}
	}

	/**
	 * Closes a producer that is broken, so that the next batch creates another one.
	 * Records that other workers are sending with it fail.
	 */
	void discard(Producer<byte[], byte[]> broken) {
		CompletableFuture<Producer<byte[], byte[]>> known;
		synchronized (this) {
			known = this.current;
		}
		if (known != null && known.isDone() && !known.isCompletedExceptionally() && known.join() == broken
				&& forget(known)) {
			close(broken, Duration.ZERO);
		}
	}

	@Override
	public void close() {
		CompletableFuture<Producer<byte[], byte[]>> last;
		synchronized (this) {
			this.closed = true;
			last = this.current;
			this.current = null;
		}
		if (last != null && last.isDone()) {
			CompletableFuture<Void> unused = last.thenAccept((producer) -> close(producer, this.closeTimeout));
		}
		else if (last != null) {
			CompletableFuture<Void> unused = last.thenAccept(Producer::close);
		}
	}

	private synchronized CompletableFuture<Producer<byte[], byte[]>> creation() {
		if (this.closed) {
			throw new IllegalStateException("The publisher has been closed");
		}
		if (this.current == null) {
			this.lastResponse = System.nanoTime();
			this.current = this.threads.call(this.factory);
		}
		return this.current;
	}

	private synchronized boolean forget(CompletableFuture<Producer<byte[], byte[]>> creation) {
		boolean known = this.current == creation;
		this.current = known ? null : this.current;
		return known;
	}

	private void close(Producer<byte[], byte[]> producer, Duration timeout) {
		this.threads.run(() -> producer.close(timeout), timeout.plus(this.closeTimeout));
	}

}
