package dev.idempotent.idempotency;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * The refusal of a tool's call, which a model reads and acts on.
 *
 * @param reason why the call is refused
 * @param operation the name of the operation
 * @param retryAfter when the same call can be made again; {@code null} if that is unknown
 * or would not help
 */
public record ToolRefusal(Reason reason, String operation, @Nullable Duration retryAfter) {

	/**
	 * Why a call is refused. No sentence leads a model to a second purchase: it tells
	 * what was done, and what to do instead of a call with another key or arguments.
	 */
	public enum Reason {

		/**
		 * The same call, or a method that the tool calls, is being run, or was when its
		 * process died.
		 */
		IN_PROGRESS("This call, or a part of it, is still in progress: wait, then repeat exactly this call to get its "
				+ "result, and do not change its arguments or its key."),

		/**
		 * The key, or the key of a method that the tool calls, was used for a call with
		 * other arguments.
		 */
		OTHER_ARGUMENTS("This call was not completed, because its idempotency key, or that of a part of it, belongs to "
				+ "an earlier call with other arguments, which counts: do not repeat this call with a new key, but look "
				+ "up what the earlier call has done, and ask the user whether a second operation is intended."),

		/**
		 * Whether the call took effect is not known until it is repeated.
		 */
		OUTCOME_UNKNOWN("It is not known whether this call took effect: repeat exactly this call to find out, and do "
				+ "not change its arguments or its key."),

		/**
		 * The call was carried out, and its result was not stored or can no longer be
		 * read.
		 */
		RESULT_NOT_KEPT("This call was carried out before and was not made again, but its result cannot be shown "
				+ "again: look up what it has done, and do not repeat it with other arguments or another key."),

		/**
		 * The store of keys is unreachable.
		 */
		STORE_UNAVAILABLE("This call was not made, because it cannot be protected against repetition at the moment: "
				+ "wait, then repeat exactly this call."),

		/**
		 * The owner of the key is not known.
		 */
		CALLER_UNKNOWN("Nothing was done, because the caller of this tool is not known: do not repeat this call, and "
				+ "tell the user that the application must make its callers known to its tools."),

		/**
		 * What was sent as the key is not a key.
		 */
		KEY_INVALID("Nothing was done, because the idempotency key of this call is not one text of 1 to 255 "
				+ "characters: repeat this call with a valid key, and use that key for every attempt."),

		/**
		 * A saga that the tool calls did not complete, and was undone. What the tool has
		 * done beside it may not be.
		 */
		UNDONE("This call did not complete, because a part of it has failed and was undone: do not repeat this call, "
				+ "and tell the user."),

		/**
		 * Something is wrong that a repetition does not change, such as a table that is
		 * missing or a saga that is halted.
		 */
		OPERATOR_NEEDED("This call cannot be completed until an operator of the application has looked at it: do not "
				+ "repeat this call, and tell the user.");

		private final String sentence;

		Reason(String sentence) {
			this.sentence = sentence;
		}

		/**
		 * The default text of the refusal.
		 * @return one sentence for a model
		 */
		public String sentence() {
			return this.sentence;
		}

	}

}
