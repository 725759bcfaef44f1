package dev.idempotent.outbox.kafka;

import java.util.HashMap;
import java.util.Map;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.Outcome.Scope;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.jspecify.annotations.Nullable;

/**
 * Which topics of a batch can take records. The metadata of each topic is requested once,
 * because each request may last until its timeout.
 */
final class TopicStates {

	private static final Outcome AVAILABLE = new Outcome.Delivered();

	private static final Outcome NO_TIME = new Outcome.Unavailable(
			"The record was not sent, because other topics of the batch did not respond", Scope.DESTINATION);

	private static final Outcome NO_LEADER = new Outcome.Unavailable("A partition of the topic has no leader",
			Scope.DESTINATION);

	private final Producer<byte[], byte[]> producer;

	private final long deadline;

	private final Map<String, Outcome> states = new HashMap<>();

	private final Map<String, Boolean> withoutLeader = new HashMap<>();

	private boolean producerBroken;

	/**
	 * Creates the states.
	 * @param deadline until when to ask for further topics, in terms of
	 * {@link System#nanoTime()}
	 */
	TopicStates(Producer<byte[], byte[]> producer, long deadline) {
		this.producer = producer;
		this.deadline = deadline;
	}

	/**
	 * Returns the outcome of the events of a topic that cannot take records.
	 */
	@Nullable Outcome unavailability(String topic) {
		Outcome state = this.states.computeIfAbsent(topic, this::ask);
		return (state != AVAILABLE) ? state : null;
	}

	void unavailable(String topic, Outcome outcome) {
		this.states.put(topic, outcome);
	}

	/**
	 * Whether a topic that did not confirm a record is known to be the reason.
	 */
	boolean isWithoutLeader(String topic) {
		return this.withoutLeader.computeIfAbsent(topic, (name) -> {
			try {
				return hasPartitionWithoutLeader(name);
			}
			catch (KafkaException | IllegalStateException ex) {
				return false;
			}
		});
	}

	boolean isProducerBroken() {
		return this.producerBroken;
	}

	private Outcome ask(String topic) {
		// The first topic is asked in any case: creating the producer may take all the
		// time.
		if (!this.states.isEmpty() && System.nanoTime() - this.deadline > 0) {
			return NO_TIME;
		}
		try {
			return hasPartitionWithoutLeader(topic) ? NO_LEADER : AVAILABLE;
		}
		catch (KafkaException | IllegalStateException ex) {
			this.producerBroken |= FailureOutcomes.breaksProducer(ex);
			return FailureOutcomes.notSent(ex);
		}
	}

	private boolean hasPartitionWithoutLeader(String topic) {
		for (PartitionInfo partition : this.producer.partitionsFor(topic)) {
			if (partition.leader() == null || partition.leader().isEmpty()) {
				return true;
			}
		}
		return false;
	}

}
