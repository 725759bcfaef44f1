package dev.idempotent.idempotency;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * Numbers the calls of one run by their target, and derives a key for each.
 */
final class DerivedKeys {

	private static final String FORMAT = "1";

	private static final String KIND = "derived";

	private final IdempotencyKey key;

	private final Map<String, Integer> ordinals = new HashMap<>();

	private final Map<Call, Queue<Integer>> unanswered = new HashMap<>();

	DerivedKeys(IdempotencyKey key) {
		this.key = key;
	}

	synchronized DerivedKey next(String target, Fingerprint request) {
		Call call = new Call(target, request);
		Queue<Integer> retried = this.unanswered.get(call);
		@Nullable Integer again = (retried != null) ? retried.poll() : null;
		int ordinal = (again != null) ? again : this.ordinals.merge(target, 1, Integer::sum);
		return new DerivedKey(digest(target, ordinal), () -> retry(call, ordinal));
	}

	private synchronized void retry(Call call, int ordinal) {
		this.unanswered.computeIfAbsent(call, (made) -> new PriorityQueue<>()).add(ordinal);
	}

	private String digest(String target, int ordinal) {
		List<byte[]> parts = Stream.of(FORMAT, KIND, this.key.digest(), target, Integer.toString(ordinal))
			.map((part) -> part.getBytes(StandardCharsets.UTF_8))
			.toList();
		return LengthPrefixedDigest.of(parts);
	}

	private record Call(String target, Fingerprint request) {
	}

}
