package dev.idempotent.idempotency;

import java.util.function.Consumer;

import dev.idempotent.idempotency.IdempotencyContext.Answer;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of a call that a run makes to another service. The outcome of the call is
 * open until an attempt of it is marked as done.
 */
public final class CallAttempt {

	private final @Nullable String key;

	private final Consumer<Answer> answered;

	private final Runnable done;

	private final Runnable unanswered;

	CallAttempt(@Nullable String key, Consumer<Answer> answered, Runnable done, Runnable unanswered) {
		this.key = key;
		this.answered = answered;
		this.done = done;
		this.unanswered = unanswered;
	}

	/**
	 * The derived key to send. An equal call later in the run gets another one, unless
	 * this attempt is marked as unanswered.
	 * @return 64 lower-case hexadecimal digits; {@code null} if none was derived
	 */
	public @Nullable String key() {
		return this.key;
	}

	/**
	 * Records the response, whatever it means.
	 * @param answer the response
	 */
	public void markAnswered(Answer answer) {
		this.answered.accept(answer);
	}

	/**
	 * Marks the call as done: the service has reported its success.
	 */
	public void markDone() {
		this.done.run();
	}

	/**
	 * Marks the attempt as unanswered: it failed, or the service asked for a retry. The
	 * next equal call is its retry and gets the same key.
	 */
	public void markUnanswered() {
		this.unanswered.run();
	}

}
