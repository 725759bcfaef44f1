package dev.idempotent.outbox;

import java.time.Duration;
import java.util.List;

/**
 * Pauses and resumes the delivery of topics on all instances. Events of a paused topic
 * can be appended, and are kept until it is resumed. Each relay learns of a change with
 * its scan, about every {@code idempotent.outbox.relay.scan-interval}; it completes a
 * batch that it is publishing then. Failures are
 * {@link org.springframework.dao.DataAccessException}s.
 */
public interface TopicControl {

	/**
	 * How many topics can be paused at the same time.
	 */
	int MAX_TOPICS = 1000;

	/**
	 * Pauses a topic.
	 * @param topic as {@code <publisher>:<destination>}
	 * @return whether it was not paused before
	 * @throws IllegalArgumentException if this is not a topic
	 * @throws IllegalStateException if {@link #MAX_TOPICS} topics are paused
	 */
	boolean pause(String topic);

	/**
	 * Resumes a topic.
	 * @param topic a topic
	 * @return whether it was paused
	 */
	boolean resume(String topic);

	/**
	 * The paused topics.
	 * @return in their alphabetical order
	 */
	List<PausedTopic> paused();

	/**
	 * A paused topic.
	 *
	 * @param topic the topic
	 * @param pausedFor how long ago it was paused, by the clock of the database
	 */
	record PausedTopic(String topic, Duration pausedFor) {
	}

}
