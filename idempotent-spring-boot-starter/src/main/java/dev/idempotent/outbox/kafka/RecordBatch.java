package dev.idempotent.outbox.kafka;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.Outcome.Scope;
import dev.idempotent.outbox.SerializedEvent;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;

/**
 * The records of a batch of events, and their confirmations.
 */
final class RecordBatch {

	private final Producer<byte[], byte[]> producer;

	private final ProducerThreads threads;

	private final ProducerSettings settings;

	private final TopicStates topics;

	private final List<Sending> sendings = new ArrayList<>();

	private @Nullable Outcome unavailable;

	private boolean producerBroken;

	/**
	 * Creates an empty batch.
	 * @param deadline until when to ask for the metadata of further topics, in terms of
	 * {@link System#nanoTime()}
	 */
	RecordBatch(Producer<byte[], byte[]> producer, ProducerThreads threads, ProducerSettings settings, long deadline) {
		this.producer = producer;
		this.threads = threads;
		this.settings = settings;
		this.topics = new TopicStates(producer, deadline);
	}

	/**
	 * Sends an event, unless its topic or all of Kafka is unavailable to this batch: each
	 * further event would wait for a timeout of its own.
	 */
	void send(SerializedEvent event) {
		String topic = event.destination();
		Outcome prevented = (this.unavailable != null) ? this.unavailable : this.topics.unavailability(topic);
		if (prevented != null) {
			this.sendings.add(new Sending(topic, null, prevented));
			return;
		}
		try {
			Future<RecordMetadata> confirmation = this.producer.send(EventRecord.of(event));
			Throwable failure = confirmation.isDone() ? failureOf(confirmation) : null;
			this.sendings.add((failure != null) ? notSent(topic, failure) : new Sending(topic, confirmation, null));
		}
		catch (KafkaException | IllegalStateException ex) {
			this.sendings.add(notSent(topic, ex));
		}
	}

	/**
	 * Waits until each record is confirmed or has failed. A producer that does not end
	 * its deliveries in time is broken: its thread has died, or waits for a name server.
	 */
	List<Outcome> await() {
		try {
			this.producerBroken |= !this.threads.run(this.producer::flush, this.settings.longestFlush());
		}
		catch (InterruptException ex) {
			// The confirmations that are missing report it.
			Thread.currentThread().interrupt();
		}
		List<@Nullable Throwable> failures = new ArrayList<>();
		boolean delivered = false;
		for (Sending sending : this.sendings) {
			Throwable failure = (sending.confirmation() != null) ? failureOf(sending.confirmation()) : null;
			delivered |= sending.confirmation() != null && failure == null;
			failures.add(failure);
		}
		List<Outcome> outcomes = new ArrayList<>(failures.size());
		for (int i = 0; i < failures.size(); i++) {
			outcomes.add(outcome(this.sendings.get(i), failures.get(i), delivered));
		}
		return outcomes;
	}

	/**
	 * Whether another producer is needed.
	 */
	boolean isProducerBroken() {
		return this.producerBroken || this.topics.isProducerBroken();
	}

	private Sending notSent(String topic, Throwable failure) {
		this.producerBroken |= FailureOutcomes.breaksProducer(failure);
		Outcome outcome = FailureOutcomes.notSent(failure);
		if (outcome instanceof Outcome.Unavailable prevented) {
			this.topics.unavailable(topic, prevented);
			this.unavailable = (prevented.scope() == Scope.PUBLISHER) ? prevented : this.unavailable;
		}
		return new Sending(topic, null, outcome);
	}

	private Outcome outcome(Sending sending, @Nullable Throwable failure, boolean delivered) {
		if (sending.prevented() != null) {
			return sending.prevented();
		}
		if (failure == null) {
			return new Outcome.Delivered();
		}
		this.producerBroken |= FailureOutcomes.breaksProducer(failure);
		return FailureOutcomes.notConfirmed(failure, () -> delivered || this.topics.isWithoutLeader(sending.topic()));
	}

	private static @Nullable Throwable failureOf(Future<RecordMetadata> confirmation) {
		try {
			confirmation.get(0, TimeUnit.NANOSECONDS);
			return null;
		}
		catch (ExecutionException ex) {
			return ex;
		}
		catch (TimeoutException ex) {
			return new org.apache.kafka.common.errors.TimeoutException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return new InterruptException(ex);
		}
	}

	/**
	 * An event of the batch.
	 *
	 * @param confirmation if it was sent
	 * @param prevented its outcome, if it was not sent
	 */
	private record Sending(String topic, @Nullable Future<RecordMetadata> confirmation, @Nullable Outcome prevented) {
	}

}
