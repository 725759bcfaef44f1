package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.Outcome.Scope;
import dev.idempotent.outbox.jdbc.ClaimedEvent;
import dev.idempotent.outbox.jdbc.QueuedEvent;
import org.jspecify.annotations.Nullable;

/**
 * Handles the events of one topic in this process. Its workers claim no more events than
 * can begin at once, so that none waits behind another one while its lease passes.
 */
public interface EventHandler {

	/**
	 * The topic of its events.
	 * @return a whole topic
	 */
	String topic();

	/**
	 * How many events this instance handles at the same time.
	 * @return at least 1
	 */
	int concurrency();

	/**
	 * How long this instance leases an event.
	 * @return the lease
	 */
	Duration lease();

	/**
	 * How many attempts an event has before it is dead.
	 * @return at least 1
	 */
	int attempts();

	/**
	 * The longest wait between two attempts of an event.
	 * @return the limit of the backoff
	 */
	Duration maxBackoff();

	/**
	 * Whether an event that was delivered has left the table with the work of the
	 * handler.
	 * @return {@code false} if the relay is to remove it
	 */
	boolean removesEvents();

	/**
	 * Creates one of its threads.
	 * @param work what it does
	 * @return a thread that is not started
	 */
	Thread newThread(Runnable work);

	/**
	 * Handles an event. If this method throws, the event stays leased.
	 * @param claim the event
	 * @param failures told why the event was not handled, as an exception that can
	 * contain a part of it
	 * @return the outcome; unavailable if the handler was not called, and
	 * {@link #leftToOthers} if this version cannot read the event
	 */
	Outcome handle(ClaimedEvent claim, Consumer<Throwable> failures);

	/**
	 * Whether the first attempt of an event can do without a claim: the transaction of
	 * the handler locks the row, and leaves a trace on it if it does not commit.
	 * @return {@code false} if each attempt is to be claimed
	 */
	default boolean handlesUnclaimed() {
		return false;
	}

	/**
	 * Handles an event that was never claimed. Unless it was delivered, the attempt has
	 * not been counted when this method returns.
	 * @param head the first row of its lane, as it was read
	 * @param failures told why the event was not handled, as an exception that can
	 * contain a part of it
	 * @return the event with the outcome, or {@code null} if the handler was not called:
	 * the row is not as it was read, locked, or cannot be locked
	 */
	default @Nullable Attempt handleUnclaimed(QueuedEvent head, Consumer<Throwable> failures) {
		throw new UnsupportedOperationException("Each attempt is to be claimed");
	}

	/**
	 * How many events it handles together at most.
	 * @return 1 for one by one
	 */
	default int batch() {
		return 1;
	}

	/**
	 * Handles events of different lanes in one transaction: all that it calls the method
	 * with, or none. A failure of several events is repeated for fewer of them.
	 * @param claims the events
	 * @param failures as for {@link #handle}
	 * @return the outcome of each, as for {@link #handle}, in the same order
	 */
	default List<Outcome> handleTogether(List<ClaimedEvent> claims, Consumer<Throwable> failures) {
		return claims.stream().map((claim) -> handle(claim, failures)).toList();
	}

	/**
	 * The outcome of an event that this version cannot read, and another one may.
	 * @param reason a sentence for operators
	 * @return an outcome that is not counted
	 */
	static Outcome leftToOthers(String reason) {
		return new Outcome.Unavailable(reason, Scope.DESTINATION);
	}

	/**
	 * Whether an outcome is {@link #leftToOthers}.
	 * @param outcome of a handler
	 * @return whether others may be able to read the event
	 */
	static boolean isLeftToOthers(Outcome outcome) {
		return outcome instanceof Outcome.Unavailable unavailable && unavailable.scope() == Scope.DESTINATION;
	}

	/**
	 * An attempt without a claim that has ended.
	 *
	 * @param claim the event, whose row does not have the attempt
	 * @param outcome how it has ended
	 */
	record Attempt(ClaimedEvent claim, Outcome outcome) {
	}

}
