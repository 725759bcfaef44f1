package dev.idempotent.saga.engine;

import dev.idempotent.saga.StepRefusedException;
import org.jspecify.annotations.Nullable;

/**
 * Reads what the exceptions of actions and undos tell of the calls that they have made.
 * Without knowledge of a protocol, they tell nothing.
 */
public class FailureClassifier {

	/**
	 * Returns the status of the response among the causes of an exception.
	 * @param failure the exception
	 * @return the HTTP status, or {@code null} if there is no response
	 */
	public @Nullable Integer statusOf(Throwable failure) {
		return null;
	}

	/**
	 * Returns whether an exception is that of a call to another service.
	 * @param failure the exception
	 * @return whether a call was made, or tried
	 */
	public boolean isOfCall(Throwable failure) {
		return false;
	}

	/**
	 * Returns whether the clients of the application observe the calls to the services of
	 * steps, and send keys with them.
	 * @return whether a call that is not observed must not be made
	 */
	public boolean requiresObservedCalls() {
		return false;
	}

	/**
	 * Describes an exception for operators, without messages, bodies and keys.
	 * @param failure the exception
	 * @return the description
	 */
	public String describe(Throwable failure) {
		return reasonOf(failure);
	}

	/**
	 * Returns the reason that is stored for operators: the text of a refusal, otherwise
	 * the type of the exception. Messages of other exceptions could contain personal
	 * data.
	 */
	static String reasonOf(Throwable failure) {
		String text = (failure instanceof StepRefusedException) ? failure.getMessage() : null;
		return (text != null && !text.isBlank()) ? text : failure.getClass().getName();
	}

}
