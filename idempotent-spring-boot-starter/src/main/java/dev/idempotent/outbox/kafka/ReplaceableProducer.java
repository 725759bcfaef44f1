package dev.idempotent.outbox.kafka;

import java.time.Duration;
import java.util.function.Supplier;

import org.apache.kafka.clients.producer.Producer;
import org.jspecify.annotations.Nullable;

/**
 * The producer that all workers share: created with the first event, and again after a
 * failure from which it does not recover.
 */
final class ReplaceableProducer implements AutoCloseable {

	private final Supplier<Producer<byte[], byte[]>> factory;

	private final Duration closeTimeout;

	private @Nullable Producer<byte[], byte[]> current;

	private boolean closed;

	/**
	 * Creates the holder of a producer.
	 * @param closeTimeout how long {@link #close()} waits for records that are being sent
	 */
	ReplaceableProducer(Supplier<Producer<byte[], byte[]>> factory, Duration closeTimeout) {
		this.factory = factory;
		this.closeTimeout = closeTimeout;
	}

	/**
	 * Returns the producer, or creates it.
	 * @throws RuntimeException if it cannot be created, for example because the name of a
	 * server cannot be resolved
	 */
	synchronized Producer<byte[], byte[]> get() {
		if (this.closed) {
			throw new IllegalStateException("The publisher has been closed");
		}
		if (this.current == null) {
			this.current = this.factory.get();
		}
		return this.current;
	}

	/**
	 * Closes a producer that is broken, so that the next batch creates another one.
	 * Records that other workers are sending with it fail.
	 */
	void discard(Producer<byte[], byte[]> broken) {
		synchronized (this) {
			if (this.current != broken) {
				return;
			}
			this.current = null;
		}
		broken.close(Duration.ZERO);
	}

	@Override
	public void close() {
		Producer<byte[], byte[]> last;
		synchronized (this) {
			this.closed = true;
			last = this.current;
			this.current = null;
		}
		if (last != null) {
			last.close(this.closeTimeout);
		}
	}

}
