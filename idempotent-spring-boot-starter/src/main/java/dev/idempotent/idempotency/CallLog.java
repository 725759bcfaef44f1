package dev.idempotent.idempotency;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Set;

import dev.idempotent.idempotency.IdempotencyContext.Answer;
import dev.idempotent.idempotency.IdempotencyContext.Calls;
import org.jspecify.annotations.Nullable;

/**
 * The calls of one run and their outcomes. Numbers the calls by their target, and derives
 * a key for each. A call that is marked as unanswered passes its number on to the next
 * equal call.
 */
final class CallLog {

	private static final String FORMAT = "1";

	private static final String KIND = "derived";

	private final IdempotencyKey key;

	private final boolean singleCall;

	private final @Nullable String refusal;

	private final Map<String, Integer> lastNumbers = new HashMap<>();

	private final Map<Call, Queue<Integer>> unanswered = new HashMap<>();

	private final Set<Object> made = new HashSet<>();

	/**
	 * The calls that are not known to be done, with their last attempts.
	 */
	private final Map<Object, Integer> open = new HashMap<>();

	private int keyed;

	private int attempts;

	private @Nullable Answer lastAnswer;

	/**
	 * Creates the log of one run.
	 * @param singleCall whether the key itself is the key of the only call
	 * @param refusal why no call gets a key, or {@code null} if calls get keys
	 */
	CallLog(IdempotencyKey key, boolean singleCall, @Nullable String refusal) {
		this.key = key;
		this.singleCall = singleCall;
		this.refusal = refusal;
	}

	/**
	 * Begins an attempt of a call that gets a key.
	 */
	synchronized CallAttempt begin(String target, Fingerprint request) {
		Call call = new Call(target, request);
		Queue<Integer> retried = this.unanswered.get(call);
		@Nullable Integer again = (retried != null) ? retried.poll() : null;
		if (again == null) {
			countKey();
		}
		int number = (again != null) ? again : this.lastNumbers.merge(target, 1, Integer::sum);
		String value = this.singleCall ? this.key.digest()
				: LengthPrefixedDigest.of(FORMAT, KIND, this.key.digest(), target, Integer.toString(number));
		return begin(value, value, () -> retry(call, number));
	}

	/**
	 * Begins an attempt of a call that gets no key.
	 */
	synchronized CallAttempt begin(Fingerprint request) {
		return begin(request, null, () -> {
		});
	}

	private CallAttempt begin(Object call, @Nullable String value, Runnable retried) {
		int attempt = ++this.attempts;
		this.made.add(call);
		this.open.put(call, attempt);
		this.lastAnswer = null;
		return new CallAttempt(value, this::answered, () -> done(call, attempt), () -> {
			reopen(call, attempt);
			retried.run();
		});
	}

	synchronized Calls calls() {
		return new Calls(this.made.size(), this.keyed, this.attempts, this.open.size(), this.lastAnswer);
	}

	private void countKey() {
		this.keyed++;
		if (this.refusal != null) {
			throw new IllegalStateException(this.refusal);
		}
		if (this.singleCall && this.keyed > 1) {
			throw new IllegalStateException(
					"The key of this run belongs to a single call, and this is a second one, or a retry with another "
							+ "method, URL or body. Nothing was sent. Make each call in a step of its own, and repeat "
							+ "a call unchanged.");
		}
	}

	private synchronized void answered(Answer answer) {
		this.lastAnswer = answer;
	}

	private synchronized void done(Object call, int attempt) {
		this.open.remove(call, attempt);
	}

	/**
	 * The body of a response can break off after its status.
	 */
	private synchronized void reopen(Object call, int attempt) {
		this.open.putIfAbsent(call, attempt);
	}

	private synchronized void retry(Call call, int number) {
		this.unanswered.computeIfAbsent(call, (made) -> new PriorityQueue<>()).add(number);
	}

	private record Call(String target, Fingerprint request) {
	}

}
