package dev.idempotent.outbox.kafka;

import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.Outcome.Scope;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.NotEnoughReplicasAfterAppendException;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RecordBatchTooLargeException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnsupportedVersionException;

/**
 * Maps failed sends to outcomes: is the event at fault, its topic, or all of Kafka? Only
 * the names of exceptions are kept as reasons, because messages can contain data.
 */
final class KafkaFailures {

	/**
	 * Failures of the producer itself. Failures of authentication and authorization can
	 * be fixed at the broker, but the producer keeps its error.
	 */
	private static final List<Class<? extends RuntimeException>> PRODUCER = List.of(OutOfOrderSequenceException.class,
			InvalidProducerEpochException.class, ProducerFencedException.class, IllegalStateException.class,
			AuthenticationException.class, ClusterAuthorizationException.class, UnsupportedVersionException.class);

	/**
	 * Failures of one topic, which a broker has reported.
	 */
	private static final List<Class<? extends RuntimeException>> TOPIC = List.of(TopicAuthorizationException.class,
			NotEnoughReplicasException.class, NotEnoughReplicasAfterAppendException.class);

	private static final List<Class<? extends RuntimeException>> RECORD = List.of(RecordTooLargeException.class,
			RecordBatchTooLargeException.class, InvalidRecordException.class, InvalidTopicException.class,
			SerializationException.class);

	private KafkaFailures() {
	}

	/**
	 * The outcome of an event that could not be passed to the producer. A timeout has the
	 * broker's error as its cause if a broker responded.
	 */
	static Outcome notSent(Throwable failure) {
		return of(failure, () -> unwrap(failure).getCause() != null);
	}

	/**
	 * The outcome of an event that was sent and is not confirmed.
	 * @param topicAlone whether only the topic seems to be unavailable
	 */
	static Outcome notConfirmed(Throwable failure, BooleanSupplier topicAlone) {
		return of(failure, topicAlone);
	}

	/**
	 * Whether further sends with the same producer would fail too.
	 */
	static boolean breaksProducer(Throwable failure) {
		Throwable cause = unwrap(failure);
		return isOneOf(PRODUCER, cause) || isClosed(cause);
	}

	private static Outcome of(Throwable failure, BooleanSupplier topicAlone) {
		Throwable cause = unwrap(failure);
		String name = cause.getClass().getSimpleName();
		if (isOneOf(RECORD, cause)) {
			return new Outcome.Reject("Kafka rejects the record (" + name + ")");
		}
		if (isOneOf(TOPIC, cause)) {
			return new Outcome.Unavailable("Kafka currently rejects records for the topic (" + name + ")",
					Scope.DESTINATION);
		}
		if (isNeighbour(cause)) {
			return new Outcome.Unavailable("Kafka rejected another record of the same request", Scope.DESTINATION);
		}
		if (breaksProducer(failure) || cause instanceof BufferExhaustedException
				|| cause instanceof InterruptException) {
			return new Outcome.Unavailable("The Kafka producer cannot send (" + name + ")");
		}
		if (cause instanceof RetriableException) {
			Throwable reported = (cause instanceof TimeoutException && cause.getCause() != null) ? cause.getCause()
					: cause;
			return new Outcome.Unavailable(
					"Kafka did not confirm the record in time (" + reported.getClass().getSimpleName() + ")",
					topicAlone.getAsBoolean() ? Scope.DESTINATION : Scope.PUBLISHER);
		}
		return new Outcome.Retry("Kafka did not accept the record (" + name + ")", null);
	}

	/**
	 * Returns the exception that a future, or a producer in an error state, reports.
	 */
	private static Throwable unwrap(Throwable failure) {
		Throwable cause = failure;
		while ((cause instanceof ExecutionException || cause.getClass() == KafkaException.class)
				&& cause.getCause() != null) {
			cause = cause.getCause();
		}
		return cause;
	}

	/**
	 * A producer that is closed fails the records that it holds without a more specific
	 * exception.
	 */
	private static boolean isClosed(Throwable cause) {
		return cause.getClass() == KafkaException.class && !isNeighbour(cause);
	}

	/**
	 * Of the records of a request, one of which the broker rejects, all others fail
	 * without a more specific exception, too. Only the message tells the two apart.
	 */
	private static boolean isNeighbour(Throwable cause) {
		return cause.getClass() == KafkaException.class && cause.getMessage() != null
				&& cause.getMessage().contains("invalid record");
	}

	private static boolean isOneOf(List<Class<? extends RuntimeException>> types, Throwable cause) {
		return types.stream().anyMatch((type) -> type.isInstance(cause));
	}

}
