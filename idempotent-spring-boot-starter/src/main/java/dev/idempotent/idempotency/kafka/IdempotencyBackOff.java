package dev.idempotent.idempotency.kafka;

import java.util.function.BiFunction;

import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.IdempotencyResultException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.FailedRecordProcessor;
import org.springframework.util.backoff.BackOff;
import org.springframework.util.backoff.ExponentialBackOff;
import org.springframework.util.backoff.FixedBackOff;

/**
 * The backoff of a record whose key is pending elsewhere or whose store is unreachable.
 * It has no limit, so that no record is skipped because another consumer has crashed
 * while it held the key.
 */
public final class IdempotencyBackOff implements BiFunction<ConsumerRecord<?, ?>, Exception, @Nullable BackOff> {

	private static final long FIRST_MILLIS = 100;

	/**
	 * Well below {@code max.poll.interval.ms}: the consumer's thread sleeps meanwhile.
	 */
	private static final long LONGEST_MILLIS = 5_000;

	/**
	 * Sets this backoff on the error handler of a listener container, or on its
	 * after-rollback processor. Replaces its backoff function; the recoverer and the
	 * backoff of other failures are not changed.
	 * @param <T> the type of the handler
	 * @param handler a {@code DefaultErrorHandler} or
	 * {@code DefaultAfterRollbackProcessor}
	 * @return the handler
	 */
	@SuppressWarnings("NullAway") // The function may return null, contrary to the
									// annotations.
	public static <T extends FailedRecordProcessor> T addTo(T handler) {
		handler.setBackOffFunction(new IdempotencyBackOff());
		// The function is called for retryable exceptions only.
		handler.addRetryableExceptions(IdempotencyPendingException.class, IdempotencyMismatchException.class,
				IdempotencyStoreUnavailableException.class);
		// Otherwise a batch that has failed for another reason before would not wait.
		handler.setResetStateOnExceptionChange(true);
		return handler;
	}

	/**
	 * Returns the backoff for a failure.
	 * @param record the record that failed
	 * @param failure the exception, whose causes are considered too
	 * @return an unlimited backoff if waiting helps, one without retries if no retry can
	 * change the outcome, and {@code null} to use the handler's own for other failures
	 */
	@Override
	public @Nullable BackOff apply(ConsumerRecord<?, ?> record, Exception failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof IdempotencyPendingException || cause instanceof IdempotencyStoreUnavailableException
					|| (cause instanceof IdempotencyMismatchException mismatch && mismatch.getRetryAfter() != null)) {
				ExponentialBackOff waiting = new ExponentialBackOff(FIRST_MILLIS, 2);
				waiting.setMaxInterval(LONGEST_MILLIS);
				return waiting;
			}
			if (cause instanceof IdempotencyMismatchException || cause instanceof IdempotencyResultException) {
				return new FixedBackOff(0, 0);
			}
		}
		return null;
	}

}
