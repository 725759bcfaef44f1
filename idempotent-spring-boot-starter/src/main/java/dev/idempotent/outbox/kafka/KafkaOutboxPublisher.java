package dev.idempotent.outbox.kafka;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.Outcome.Scope;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.concurrent.OutageLog;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Sends events to Kafka: an event with the topic {@code kafka:orders} is sent to the
 * topic {@code orders}, with the key of the event as the key of the record, the event's
 * headers, and the bytes as they were appended.
 * <p>
 * An event whose confirmation is lost is sent again, so that a topic may contain it
 * twice, with the same {@code ce_id}.
 */
public final class KafkaOutboxPublisher implements OutboxPublisher, AutoCloseable {

	/**
	 * The prefix of this publisher's topics.
	 */
	public static final String PREFIX = "kafka";

	private final ProducerThreads threads = new ProducerThreads();

	private final ReplaceableProducer producers;

	private final ProducerSettings settings;

	KafkaOutboxPublisher(Supplier<Producer<byte[], byte[]>> producers, ProducerSettings settings) {
		this.producers = new ReplaceableProducer(producers, this.threads, settings);
		this.settings = settings;
	}

	/**
	 * Creates a publisher that connects with the first event.
	 * @param application the settings of the application's producers. Those that delivery
	 * depends on are replaced, such as {@code acks}, serializers and timeouts
	 * @param lease the lease of the events, of which a batch takes at most half
	 * @return the publisher
	 */
	public static KafkaOutboxPublisher connectingTo(Map<String, Object> application, Duration lease) {
		ProducerSettings settings = ProducerSettings.within(lease);
		Map<String, Object> all = settings.applyTo(application);
		return new KafkaOutboxPublisher(
				() -> new KafkaProducer<>(all, new ByteArraySerializer(), new ByteArraySerializer()), settings);
	}

	@Override
	public String prefix() {
		return PREFIX;
	}

	/**
	 * A record that is too large is refused. One without a response is in a partition
	 * that has no leader or too few replicas, while others of the topic get responses.
	 */
	@Override
	public boolean canEventPreventResponse() {
		return false;
	}

	@Override
	public List<Outcome> publish(List<SerializedEvent> events) {
		long deadline = System.nanoTime() + this.settings.sendTime().toNanos();
		Producer<byte[], byte[]> producer;
		try {
			producer = this.producers.get();
		}
		catch (InterruptException ex) {
			return Collections.nCopies(events.size(), KafkaFailures.notSent(ex));
		}
		catch (RuntimeException ex) {
			return Collections.nCopies(events.size(),
					new Outcome.Unavailable("There is no Kafka producer (" + cause(ex) + ")"));
		}
		RecordBatch batch = new RecordBatch(producer, this.threads, this.settings, deadline);
		events.forEach(batch::send);
		List<Outcome> outcomes = batch.await();
		if (batch.isProducerBroken()) {
			this.producers.discard(producer);
		}
		else if (outcomes.stream().allMatch(KafkaOutboxPublisher::isWithoutResponse)) {
			this.producers.failed(producer);
		}
		else {
			this.producers.responded();
		}
		return outcomes;
	}

	private static boolean isWithoutResponse(Outcome outcome) {
		return outcome instanceof Outcome.Unavailable unavailable && unavailable.scope() == Scope.PUBLISHER;
	}

	/**
	 * Waits up to two seconds for records that are being sent.
	 */
	@Override
	public void close() {
		this.producers.close();
		this.threads.close();
	}

	/**
	 * Other messages may contain a part of {@code sasl.jaas.config}.
	 */
	private static String cause(RuntimeException failure) {
		Throwable root = failure;
		while (root.getCause() != null) {
			root = root.getCause();
		}
		return (root == failure || root instanceof ConfigException) ? OutageLog.reason(root)
				: root.getClass().getSimpleName();
	}

}
