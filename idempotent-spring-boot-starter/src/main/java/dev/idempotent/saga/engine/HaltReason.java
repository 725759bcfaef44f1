package dev.idempotent.saga.engine;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * The reasons for which a saga needs an operator, from the special ones to the general
 * ones. The journal stores the text, by which also another version of the library
 * recognizes the reasons that both have. {@code docs/operations.md} has the same table.
 */
public enum HaltReason {

	/**
	 * An action or undo has used another step, another wait or another saga.
	 */
	NESTED_USE("%s: use steps and sagas one after another",
			"The code of the step is wrong. Deploy a corrected version, then retry."),

	/**
	 * The result of an action cannot be written.
	 */
	RESULT_NOT_WRITABLE("The result of the step '%s' cannot be stored: %s", NESTED_USE),

	/**
	 * The result of an action cannot be read back as its type.
	 */
	RESULT_NOT_READABLE("The result of the step '%s' cannot be read back from JSON as %s", NESTED_USE),

	/**
	 * A step that is cancelled by its key has sent no key.
	 */
	NO_KEY_SENT("The step '%s' has returned, and no call carried its key",
			". List the service in idempotent.client.targets, or take the key and send it", NESTED_USE.action),

	/**
	 * A step has tried to make a second call under its key.
	 */
	SECOND_CALL(
			"The step '%s' has tried to make a second call under its key, or to repeat its call with another target, "
					+ "method, path, query or body",
			". That was not sent. Make each call in a step of its own, and repeat a call unchanged. List a service whose "
					+ "calls may be repeated without a key in idempotent.client.repeatable",
			NESTED_USE.action),

	/**
	 * A step has failed after it had committed a part of its work.
	 */
	COMMITTED_IN_PART("The step '%s' has failed after it had committed its transaction",
			": it called commit() on the connection, or a statement commits implicitly. Undo that part of its work before "
					+ "you retry the saga",
			"Undo by hand what the step has committed. Deploy a version without the commit, then retry."),

	/**
	 * The call of a step has changed while its outcome is unknown.
	 */
	CALL_CHANGED(
			"The step '%s' has tried to make another call under its key than in the attempt whose outcome is unknown: "
					+ "%s",
			". That was not sent. Deploy a version that makes the earlier call. If the service has not done that, or "
					+ "recognizes the key also in the changed call, retry the saga",
			"A deployment has changed what the step sends, or to which service. Deploy a version that makes the earlier "
					+ "call, then retry. If the service has not done the earlier call, or recognizes its key in the "
					+ "changed one, retry: the changed call is then sent."),

	/**
	 * The only call of a step went to a URL that is not listed.
	 */
	CALL_TO_NO_TARGET(
			"The step '%s' has tried to make a call without a key, to a URL of no target, although an earlier attempt "
					+ "may have made its call",
			". That was not sent%s, and retry the saga",
			"The call was not sent, because an earlier attempt may have made it with the key. If it leads to the service "
					+ "of the step, list that location in idempotent.client.targets; if its calls may be repeated, in "
					+ "idempotent.client.repeatable. Deploy that, then retry."),

	/**
	 * Beside another call, one went to a URL that is not listed.
	 */
	OTHER_CALL_TO_NO_TARGET(
			"A call without a key, to a URL of no target, was not sent while the call of the step was open",
			CALL_TO_NO_TARGET),

	/**
	 * A client without the interceptor may have made a call without a key.
	 */
	CALL_NOT_OBSERVED("The step '%s' has %s, and no call was observed",
			": if it has called a service, then without a key and whatever the response was. Use a client with the "
					+ "interceptor on the thread of the saga, or take the key and send it. Use runInTransaction for work "
					+ "in the database. Look up what the call has done before you retry the saga",
			"A client without the interceptor has made a call without a key, which may have taken effect. Look up at the "
					+ "service whether it has. Deploy a version whose client is observed, or that sends the key, then "
					+ "retry. If the call has taken effect, undo it there first."),

	/**
	 * A step names a proof, and its client is not observed.
	 */
	RESPONSE_NOT_JUDGED(
			"The step '%s' names what proves a response, and has returned without a response that could be judged",
			". If it has called a service, look up what that has done. Use a client with the interceptor on the thread of "
					+ "the saga, and do not list the service in idempotent.client.repeatable; or name no proof for a "
					+ "client that is not observed",
			"The step names a proof, and its client is not observed. Look up at the service what the call has done. "
					+ "Deploy a version whose client is observed, or that names no proof, then retry."),

	/**
	 * A signal has another value than the method waits for.
	 */
	SIGNAL_NOT_READABLE(
			"The value of the signal '%s' is missing or cannot be read as %s by this version of the application",
			"A sender or an operator has sent another value than the method waits for. Deploy a version whose type can "
					+ "read it, and retry; or abort the saga."),

	/**
	 * A stored value cannot be decrypted.
	 */
	VALUE_NOT_DECRYPTED("The stored %s cannot be decrypted: %s",
			"The instances have no key for what the saga has stored. Give them the key, or the setting, with which it was "
					+ "stored (idempotent.encryption), then retry."),

	/**
	 * A stored value is encrypted here and not there, or has the format of a later
	 * version.
	 */
	FORMAT_NOT_ACCEPTED("The format of the stored %s is not accepted by this instance", ": check idempotent.encryption",
			VALUE_NOT_DECRYPTED.action),

	/**
	 * The method runs another step than the journal has in its place.
	 */
	OTHER_STEP("The saga's method runs the step '%s' in place of the recorded step '%s'",
			"The code of the saga was changed, or leads to other steps in each run. Deploy a version of the method that "
					+ "reaches the recorded steps in their order, then retry."),

	/**
	 * The method has returned before it has reached all recorded steps.
	 */
	RETURNED_BEFORE_STEP("The saga's method returned without the recorded step '%s'", OTHER_STEP),

	/**
	 * The method has failed before it has reached all recorded steps.
	 */
	FAILED_BEFORE_STEP("The saga's method failed with %s before its recorded step '%s'", OTHER_STEP),

	/**
	 * A recorded step is of another kind in this version of the method.
	 */
	OTHER_KIND("The step '%s' was recorded as %s, but is %s in this version of the application", OTHER_STEP),

	/**
	 * A recorded step must be undone, and the method does not reach it.
	 */
	STEP_NOT_REACHED("The saga's method does not reach the step '%s' in this version of the application",
			", so the step cannot be undone", OTHER_STEP.action),

	/**
	 * The recorded result of a step cannot be read as its type.
	 */
	RECORDED_RESULT_NOT_READABLE("The result of the step '%s' cannot be read by this version of the application",
			OTHER_STEP),

	/**
	 * The method has another number of parameters than when its arguments were stored.
	 */
	OTHER_PARAMETERS("The stored arguments of %s are not arguments for %s parameters",
			". To change the parameters of a saga, give it another name", OTHER_STEP.action),

	/**
	 * A stored argument cannot be read as its type.
	 */
	ARGUMENT_NOT_READABLE("The stored argument '%s' of %s cannot be read as %s, or is another value then", OTHER_STEP),

	/**
	 * A class or a member of a class is missing.
	 */
	CLASS_MISSING("The saga's method failed with %s",
			"A class, a method or a field is missing in this version of the application. Deploy a complete one, then "
					+ "retry."),

	/**
	 * A later version of the library has stored a step.
	 */
	STEP_OF_LATER_VERSION("The step '%s' has the %s '%s', which is unknown in this version of the application",
			"A later version of the application has run the saga, and was rolled back. Deploy the later version again, "
					+ "then retry."),

	/**
	 * The row of the saga cannot be read.
	 */
	SAGA_NOT_READABLE("The stored saga cannot be read: %s",
			"The rows of the saga were changed by hand, or only a part of them was restored. Undo by hand what the saga "
					+ "has done, and close it."),

	/**
	 * The row of an open saga has no arguments.
	 */
	NO_ARGUMENTS("The stored saga has no arguments", SAGA_NOT_READABLE),

	/**
	 * A row of a step is missing.
	 */
	STEP_MISSING("The stored step '%s' does not follow those before it", SAGA_NOT_READABLE),

	/**
	 * The outcome of a step is unknown that must not be repeated.
	 */
	CALLED_AT_MOST_ONCE("%s. It is called at most once, so it is not repeated",
			". Find out at the service whether it %s",
			"The service does not recognize a repeated call. Look up there whether the action, or its undo, was done, by "
					+ "the time, the amount and what else the request contains. Then do what the reason says: a retry "
					+ "makes the call again."),

	/**
	 * Each response may be one to another request under the same key.
	 */
	MAY_BE_IN_PROGRESS(
			"By %s, services also report that a request with the same key is in progress, so that it proves nothing by "
					+ "itself",
			". If the service refuses by this response, name what distinguishes it: refusedBy((response) -> …); if it "
					+ "reports that the step was undone before: undoneBy((response) -> …)",
			"The service has answered each attempt by a status that proves nothing by itself. Look up there whether the "
					+ "call has taken effect, or was undone before. Deploy a version whose step names what distinguishes "
					+ "the response, then retry: the call has the same key."),

	/**
	 * Each response may be from a gateway.
	 */
	NO_PROOF("The response lacks what proves that the service has sent it",
			", and not a gateway: a participant with @Cancels sends the header %s; for another service, name the proof "
					+ "with provenBy",
			"A gateway has answered for the service at each attempt, or the service sends no receipts. Correct that, then "
					+ "retry."),

	/**
	 * Each response has the receipt of another request, or one without an outcome.
	 */
	OTHER_RECEIPT("The response has the receipt of another request, or one that leaves the outcome open",
			"A gateway has answered with a stored response, or the service has not ended the request. Look up there "
					+ "whether the call has taken effect. If the service is available again, retry: the call has the "
					+ "same key."),

	/**
	 * A participant has no record of the action that it was to cancel.
	 */
	ACTION_UNKNOWN("%saction-unknown)%s",
			"The service has no record that the action was done. Find out there, undo it by hand if it was, then skip the "
					+ "step."),

	/**
	 * The service may have forgotten the key of a call whose outcome is unknown.
	 */
	KEY_EXPIRED(
			"The outcome of the step '%s' is unknown, and its key is older than "
					+ "idempotent.saga.participant-retention (%s)",
			"The service may have forgotten the key. Find out there whether the step has taken effect, undo it there, then "
					+ "skip the step."),

	/**
	 * The service rejects the key of a call.
	 */
	KEY_REJECTED("The step '%s' failed, and no other attempt can settle it: %s",
			"The service rejects the key, for example because another request has used it. Find out there whether the step "
					+ "has taken effect. Deploy a version that sends the former request, and retry; or abort the saga. If "
					+ "it is halted again at this step, undo the step there if it has taken effect, then skip it."),

	/**
	 * A call does not return in a process that still runs.
	 */
	CALL_HANGS("A call of the saga has not returned in this process",
			"A call hangs beyond its time limit in an instance that still runs. Look for its thread there, restart that "
					+ "instance, then retry."),

	/**
	 * A call takes longer than its time limit in each attempt.
	 */
	TIME_LIMIT("The outcome of the step '%s' is unknown: it has taken longer than its time limit (%s)",
			"The service has not answered, or not in a way that proves anything, until the attempts were used up. Look up "
					+ "there whether the call has taken effect. If the service is available again, retry: the call has "
					+ "the same key."),

	/**
	 * Some calls of a step did not succeed, and it has returned.
	 */
	RETURNED_WITHOUT_SUCCESS("The outcome of the step '%s' is unknown: it returned, but %s of its %s calls did not end "
			+ "with a status of success%s", TIME_LIMIT),

	/**
	 * A step has returned after a refusal, and has made other calls.
	 */
	RETURNED_AFTER_REFUSAL(
			"The outcome of the step '%s' is unknown: it returned after a response that it names as a refusal (%s), and "
					+ "has made other calls, too",
			". Make each call in a step of its own", TIME_LIMIT.action),

	/**
	 * No attempt has shown whether a call has taken effect.
	 */
	OUTCOME_UNKNOWN("The outcome of the step '%s' is unknown: %s", TIME_LIMIT),

	/**
	 * An undo was refused, or has failed in each attempt.
	 */
	UNDO_FAILED("The step '%s' could not be undone: %s",
			"The service that undoes the step has refused, or failed at each attempt. Correct the cause there, then retry: "
					+ "after a refusal, the undo is called under another key, so that the refusal is not replayed; "
					+ "after attempts of unknown outcome, it is called under the same key. If the service cannot undo "
					+ "it, undo it by hand and skip the step."),

	/**
	 * The attempts to undo the saga were used up: the text describes the last exception.
	 */
	ATTEMPTS_USED_UP("%s",
			"The attempts to undo the saga were used up, or another version of the library has halted it. Read "
					+ "the reason, correct the cause, then retry.");

	private static final String VALUE = "%s";

	/**
	 * The reasons that follow another sentence, such as what has failed.
	 */
	private static final Set<HaltReason> FOLLOWING = EnumSet.of(OTHER_CALL_TO_NO_TARGET, MAY_BE_IN_PROGRESS, NO_PROOF,
			OTHER_RECEIPT);

	private final String sentence;

	private final String rest;

	private final String action;

	HaltReason(String sentence, String rest, String action) {
		this.sentence = sentence;
		this.rest = rest;
		this.action = action;
	}

	HaltReason(String sentence, String action) {
		this(sentence, "", action);
	}

	HaltReason(String sentence, HaltReason like) {
		this(sentence, "", like.action);
	}

	/**
	 * Recognizes the reason of a saga that was halted by this version of the library or
	 * by another one.
	 * @param text the stored text, or {@code null}
	 * @return the first reason that fits
	 */
	public static HaltReason of(@Nullable String text) {
		return Stream.of(values())
			.filter((reason) -> reason.isIn((text != null) ? text : ""))
			.findFirst()
			.orElseThrow();
	}

	/**
	 * Returns the text to store.
	 * @param values what the text names, in this order
	 * @return one or several sentences, without the last full stop
	 */
	public String text(@Nullable Object... values) {
		return (this.sentence + this.rest).formatted(values);
	}

	/**
	 * What the operator is to do.
	 * @return sentences
	 */
	public String action() {
		return this.action;
	}

	/**
	 * The sentence by which the reason is recognized.
	 * @return the sentence with an ellipsis in place of each value
	 */
	public String pattern() {
		return this.sentence.replace(VALUE, "…");
	}

	private boolean isIn(String text) {
		List<String> parts = Arrays.asList(this.sentence.split(VALUE, -1));
		if (!FOLLOWING.contains(this) && !text.startsWith(parts.get(0))) {
			return false;
		}
		int from = 0;
		for (String part : parts) {
			int found = text.indexOf(part, from);
			if (found < 0) {
				return false;
			}
			from = found + part.length();
		}
		return true;
	}

}
