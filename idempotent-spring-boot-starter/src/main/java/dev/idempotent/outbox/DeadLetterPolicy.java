package dev.idempotent.outbox;

import java.time.Duration;
import java.util.Optional;

/**
 * Decides whether an event becomes dead. An application can have one bean of this type.
 */
@FunctionalInterface
public interface DeadLetterPolicy {

	/**
	 * Called before an event becomes dead because its last attempt has failed or its
	 * publisher has rejected it. Not called for an event that cannot be published as it
	 * is stored, nor for one whose attempts all ended without a result. Called by several
	 * threads concurrently, outside of a transaction; must return well within the lease
	 * of the event.
	 * @param event the event
	 * @param reason why the attempt failed, a sentence for operators
	 * @return how long to wait before one more attempt, after which this method is called
	 * again if it fails; empty to let the event become dead, as does an exception
	 */
	Optional<Duration> beforeDeadLetter(SerializedEvent event, String reason);

}
