package dev.idempotent.idempotency;

import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/**
 * The claimed key of the work that the current thread runs. While it is bound, the MDC
 * contains the key's digest as {@value #MDC_KEY}.
 */
public final class IdempotencyContext {

	/**
	 * The name of the key's digest in the MDC.
	 */
	public static final String MDC_KEY = "idempotency";

	private static final ThreadLocal<@Nullable IdempotencyContext> bound = new ThreadLocal<>();

	private final IdempotencyKey key;

	private final String token;

	private final CallLog calls;

	private final @Nullable String cancels;

	/**
	 * Creates the context of one run.
	 * @param key the claimed key
	 * @param token the claimant's token
	 */
	public IdempotencyContext(IdempotencyKey key, String token) {
		this(key, token, new CallLog(key, false, null), null);
	}

	private IdempotencyContext(IdempotencyKey key, String token, CallLog calls, @Nullable String cancels) {
		this.key = key;
		this.token = token;
		this.calls = calls;
		this.cancels = cancels;
	}

	/**
	 * Creates the context of a run that makes a single call to another service. That call
	 * and its retries carry the key of the run itself; a different call fails with an
	 * {@link IllegalStateException} and is not sent.
	 * @param key the key of the run and of its call
	 * @param token the claimant's token
	 * @param cancels the value of {@code Idempotency-Cancels} to send with the call, such
	 * as {@code <key>; outcome=unknown}; {@code null} unless the call cancels another one
	 * @return the context
	 */
	public static IdempotencyContext forSingleCall(IdempotencyKey key, String token, @Nullable String cancels) {
		return new IdempotencyContext(key, token, new CallLog(key, true, null), cancels);
	}

	/**
	 * Creates the context of a run whose calls must not get keys, because a repetition of
	 * the run would derive others. A call that needs one fails with an
	 * {@link IllegalStateException} and is not sent.
	 * @param key the key of the run
	 * @param token the claimant's token
	 * @param refusal why, and what to do instead
	 * @return the context
	 */
	public static IdempotencyContext refusingCalls(IdempotencyKey key, String token, String refusal) {
		return new IdempotencyContext(key, token, new CallLog(key, false, refusal), null);
	}

	/**
	 * The context of the calling thread.
	 * @return the context, or {@code null} outside an idempotent run
	 */
	public static @Nullable IdempotencyContext current() {
		return bound.get();
	}

	/**
	 * Binds a context to the calling thread.
	 * @param next the context, or {@code null} for none
	 * @return the previous context, to be bound again in a {@code finally} block
	 */
	public static @Nullable IdempotencyContext bind(@Nullable IdempotencyContext next) {
		IdempotencyContext previous = bound.get();
		if (next != null) {
			bound.set(next);
			MDC.put(MDC_KEY, next.key.digest());
		}
		else {
			bound.remove();
			MDC.remove(MDC_KEY);
		}
		return previous;
	}

	/**
	 * The claimed key.
	 * @return the key, which is safe to log
	 */
	public IdempotencyKey key() {
		return this.key;
	}

	/**
	 * The token that proves to the store that this run owns the key. Each run of a key
	 * has its own.
	 * @return the token
	 */
	public String token() {
		return this.token;
	}

	/**
	 * The value of {@code Idempotency-Cancels} to send with each call that gets a key.
	 * @return the value, or {@code null} if this run cancels no call
	 */
	public @Nullable String cancels() {
		return this.cancels;
	}

	/**
	 * The calls that this run has made to other services, as far as they were observed.
	 * @return the calls up to now
	 */
	public Calls calls() {
		return this.calls.calls();
	}

	/**
	 * Begins an attempt of a call to another service, and derives its key. Another run of
	 * this key that makes the same calls derives the same keys. Two calls to one target
	 * get two keys, but a call that is equal to an unanswered one is its retry and gets
	 * the same key.
	 * @param target the target of the call, such as method and URL without the parts that
	 * differ between retries
	 * @param request the fingerprint of the call, to tell a retry from another call
	 * @return the attempt, on which its outcome must be marked
	 * @throws IllegalStateException if the run makes a single call and this is another,
	 * or its calls get no keys
	 */
	public CallAttempt derive(String target, Fingerprint request) {
		return this.calls.begin(target, request);
	}

	/**
	 * Begins an attempt of a call to another service that gets no derived key.
	 * @param request the fingerprint of the call, to tell a retry from another call
	 * @return the attempt, on which its outcome must be marked
	 */
	public CallAttempt observe(Fingerprint request) {
		return this.calls.begin(request);
	}

	/**
	 * The calls of a run that were observed, with or without a derived key.
	 *
	 * @param made the number of different calls; retries are not counted
	 * @param keyed how many of them asked for a derived key, including refused ones
	 * @param attempts the number of attempts
	 * @param open the number of calls whose last attempt is not known to be done
	 * @param lastAnswer the response to the last attempt, or {@code null} if there is
	 * none
	 */
	public record Calls(int made, int keyed, int attempts, int open, @Nullable Answer lastAnswer) {
	}

	/**
	 * A response of another service.
	 *
	 * @param status the HTTP status
	 * @param replayed whether it is the stored response to an earlier call with the key
	 */
	public record Answer(int status, boolean replayed) {
	}

}
