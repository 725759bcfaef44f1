package dev.idempotent.idempotency;

import java.util.HashMap;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;

import org.jspecify.annotations.Nullable;

/**
 * Numbers the calls of one run by their target, and derives a key for each. A call that
 * is marked as unanswered passes its number on to the next equal call.
 */
final class DerivedKeySequence {

	private static final String FORMAT = "1";

	private static final String KIND = "derived";

	private final IdempotencyKey key;

	private final Map<String, Integer> lastNumbers = new HashMap<>();

	private final Map<Call, Queue<Integer>> unanswered = new HashMap<>();

	DerivedKeySequence(IdempotencyKey key) {
		this.key = key;
	}

	synchronized DerivedKey next(String target, Fingerprint request) {
		Call call = new Call(target, request);
		Queue<Integer> retried = this.unanswered.get(call);
		@Nullable Integer again = (retried != null) ? retried.poll() : null;
		int number = (again != null) ? again : this.lastNumbers.merge(target, 1, Integer::sum);
		String value = LengthPrefixedDigest.of(FORMAT, KIND, this.key.digest(), target, Integer.toString(number));
		return new DerivedKey(value, () -> retry(call, number));
	}

	private synchronized void retry(Call call, int number) {
		this.unanswered.computeIfAbsent(call, (made) -> new PriorityQueue<>()).add(number);
	}

	private record Call(String target, Fingerprint request) {
	}

}
