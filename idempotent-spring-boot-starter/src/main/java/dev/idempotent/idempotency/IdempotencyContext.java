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

	private final DerivedKeySequence derivedKeys;

	/**
	 * Creates the context of one run.
	 * @param key the claimed key
	 * @param token the claimant's token
	 */
	public IdempotencyContext(IdempotencyKey key, String token) {
		this.key = key;
		this.token = token;
		this.derivedKeys = new DerivedKeySequence(key);
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
	 * Derives the key of a call to another service. Another run of this key that makes
	 * the same calls derives the same keys. Two calls to one target get two keys, but a
	 * call that is equal to an unanswered one is its retry and gets the same key.
	 * @param target the target of the call, such as method and URL without the parts that
	 * differ between retries
	 * @param request the fingerprint of the call, to tell a retry from another call
	 * @return the key, which must be marked if the call is unanswered
	 */
	public DerivedKey derive(String target, Fingerprint request) {
		return this.derivedKeys.next(target, request);
	}

}
