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
 * How long a record waits that its listener could not take for its key: until the key is
 * free or its result there, however long that is, so that no record is skipped because
 * the process before this one has died.
 */
public final class IdempotencyBackOff implements BiFunction<ConsumerRecord<?, ?>, Exception, @Nullable BackOff> {

	private static final long FIRST_MILLIS = 100;

	/**
	 * The consumer's thread sleeps meanwhile, far shorter than
	 * {@code max.poll.interval.ms} allows.
	 */
	private static final long LONGEST_MILLIS = 5_000;

	/**
	 * Lets the error handler of a listener container, or its after-rollback processor,
	 * wait so. Replaces its backoff function; the recoverer and the backoff for all other
	 * failures stay as they are.
	 * @param <T> the type of the handler
	 * @param handler a {@code DefaultErrorHandler} or
	 * {@code DefaultAfterRollbackProcessor}
	 * @return the handler
	 */
	@SuppressWarnings("NullAway") // The function may yield null, which is not understood.
	public static <T extends FailedRecordProcessor> T addTo(T handler) {
		handler.setBackOffFunction(new IdempotencyBackOff());
		// The function is not asked about what the handler does not retry.
		handler.addRetryableExceptions(IdempotencyPendingException.class, IdempotencyStoreUnavailableException.class);
		// Else a batch that has failed otherwise before would not wait.
		handler.setResetStateOnExceptionChange(true);
		return handler;
	}

	/**
	 * Finds the backoff for a failure.
	 * @param record what could not be taken
	 * @param failure why, perhaps among the causes
	 * @return one without end where the record has but to wait, one without retries where
	 * no retry can change the outcome, and {@code null} for every other failure, which
	 * leaves it to the handler
	 */
	@Override
	public @Nullable BackOff apply(ConsumerRecord<?, ?> record, Exception failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof IdempotencyPendingException || cause instanceof IdempotencyStoreUnavailableException) {
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
