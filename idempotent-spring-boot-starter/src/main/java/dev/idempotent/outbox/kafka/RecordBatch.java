package dev.idempotent.outbox.kafka;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.Outcome.Scope;
import dev.idempotent.outbox.SerializedEvent;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;

/**
 * The records of a batch of events, and their confirmations. The metadata of each topic
 * is requested once, because each request may last until its timeout.
 */
final class RecordBatch {

	private static final Outcome AVAILABLE = new Outcome.Delivered();

	private static final Outcome NO_TIME = new Outcome.Unavailable(
			"The record was not sent, because other topics of the batch did not respond", Scope.DESTINATION);

	private static final Outcome NO_LEADER = new Outcome.Unavailable("A partition of the topic has no leader",
			Scope.DESTINATION);

	private final Producer<byte[], byte[]> producer;

	private final ProducerThreads threads;

	private final ProducerSettings settings;

	private final long deadline;

	private final Map<String, Outcome> topics = new HashMap<>();

	private final Map<String, Boolean> withoutLeader = new HashMap<>();

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
		this.deadline = deadline;
	}

	/**
	 * Sends an event, unless its topic or all of Kafka is unavailable to this batch: each
	 * further event would wait for a timeout of its own.
	 */
	void send(SerializedEvent event) {
		String topic = event.destination();
		Outcome prevented = (this.unavailable != null) ? this.unavailable
				: this.topics.computeIfAbsent(topic, this::ask);
		if (prevented != AVAILABLE) {
			this.sendings.add(new Sending(topic, null, prevented));
			return;
		}
		try {
			Future<RecordMetadata> confirmation = this.producer.send(record(event));
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
			// The missing confirmations report the failure.
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
		return this.producerBroken;
	}

	/**
	 * Returns the outcome of the events of a topic that cannot take records, or
	 * {@link #AVAILABLE}.
	 */
	private Outcome ask(String topic) {
		// The first topic is asked in any case: creating the producer may take all the
		// time.
		if (!this.topics.isEmpty() && System.nanoTime() - this.deadline > 0) {
			return NO_TIME;
		}
		try {
			return hasPartitionWithoutLeader(topic) ? NO_LEADER : AVAILABLE;
		}
		catch (KafkaException | IllegalStateException ex) {
			this.producerBroken |= KafkaFailures.breaksProducer(ex);
			return KafkaFailures.notSent(ex);
		}
	}

	/**
	 * Whether a topic that did not confirm a record is known to be the reason.
	 */
	private boolean isWithoutLeader(String topic) {
		return this.withoutLeader.computeIfAbsent(topic, (name) -> {
			try {
				return hasPartitionWithoutLeader(name);
			}
			catch (KafkaException | IllegalStateException ex) {
				return false;
			}
		});
	}

	private boolean hasPartitionWithoutLeader(String topic) {
		return this.producer.partitionsFor(topic)
			.stream()
			.anyMatch((partition) -> partition.leader() == null || partition.leader().isEmpty());
	}

	/**
	 * Maps an event to a record in the binary mode of CloudEvents' Kafka binding.
	 */
	private static ProducerRecord<byte[], byte[]> record(SerializedEvent event) {
		ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(event.destination(), bytes(event.key()),
				event.payload());
		event.headers().forEach((name, value) -> record.headers().add(valid(name), bytes(value)));
		return record;
	}

	/**
	 * Replaces what is not valid Unicode. The client computes another length for it than
	 * it writes, and the broker then rejects all records of the request.
	 */
	private static String valid(String name) {
		return new String(name.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
	}

	private static byte @Nullable [] bytes(@Nullable String text) {
		return (text != null) ? text.getBytes(StandardCharsets.UTF_8) : null;
	}

	private Sending notSent(String topic, Throwable failure) {
		this.producerBroken |= KafkaFailures.breaksProducer(failure);
		Outcome outcome = KafkaFailures.notSent(failure);
		if (outcome instanceof Outcome.Unavailable prevented) {
			this.topics.put(topic, prevented);
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
		this.producerBroken |= KafkaFailures.breaksProducer(failure);
		return KafkaFailures.notConfirmed(failure, () -> delivered || isWithoutLeader(sending.topic()));
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
