package dev.idempotent.idempotency;

import java.util.HashMap;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;

import dev.idempotent.idempotency.IdempotencyContext.Calls;
import org.jspecify.annotations.Nullable;

/**
 * Numbers the calls of one run by their target, and derives a key for each. A call that
 * is marked as unanswered passes its number on to the next equal call.
 */
final class DerivedKeySequence {

	private static final String FORMAT = "1";

	private static final String KIND = "derived";

	private final IdempotencyKey key;

	private final boolean singleCall;

	private final Map<String, Integer> lastNumbers = new HashMap<>();

	private final Map<Call, Queue<Integer>> unanswered = new HashMap<>();

	private Calls calls = new Calls(0, 0, 0);

	/**
	 * Creates the sequence of one run.
	 * @param singleCall whether the key itself is the key of the only call
	 */
	DerivedKeySequence(IdempotencyKey key, boolean singleCall) {
		this.key = key;
		this.singleCall = singleCall;
	}

	synchronized DerivedKey next(String target, Fingerprint request) {
		Call call = new Call(target, request);
		Queue<Integer> retried = this.unanswered.get(call);
		@Nullable Integer again = (retried != null) ? retried.poll() : null;
		if (again == null) {
			countCall();
		}
		int number = (again != null) ? again : this.lastNumbers.merge(target, 1, Integer::sum);
		String value = this.singleCall ? this.key.digest()
				: LengthPrefixedDigest.of(FORMAT, KIND, this.key.digest(), target, Integer.toString(number));
		return new DerivedKey(value, this::countSuccess, () -> retry(call, number));
	}

	synchronized Calls calls() {
		return this.calls;
	}

	private void countCall() {
		this.calls = new Calls(this.calls.made() + 1, this.calls.succeeded(), this.calls.unanswered());
		if (this.singleCall && this.calls.made() > 1) {
			throw new IllegalStateException(
					"The key of this run belongs to a single call, and this is a second one, or a retry with another "
							+ "method, URL or body. Nothing was sent. Make each call in a step of its own, and repeat "
							+ "a call unchanged.");
		}
	}

	private synchronized void countSuccess() {
		this.calls = new Calls(this.calls.made(), this.calls.succeeded() + 1, this.calls.unanswered());
	}

	private synchronized void retry(Call call, int number) {
		this.calls = new Calls(this.calls.made(), this.calls.succeeded(), this.calls.unanswered() + 1);
		this.unanswered.computeIfAbsent(call, (made) -> new PriorityQueue<>()).add(number);
	}

	private record Call(String target, Fingerprint request) {
	}

}
