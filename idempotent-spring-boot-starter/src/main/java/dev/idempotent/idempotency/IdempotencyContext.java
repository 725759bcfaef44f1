package dev.idempotent.idempotency;

import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/**
 * The claimed key under which the current thread works. The logging context carries the
 * key's digest as {@value #MDC_KEY} meanwhile.
 */
public final class IdempotencyContext {

	/**
	 * The name of the key's digest in the logging context.
	 */
	public static final String MDC_KEY = "idempotency";

	private static final ThreadLocal<@Nullable IdempotencyContext> bound = new ThreadLocal<>();

	private final IdempotencyKey key;

	private final String token;

	private final DerivedKeys derivedKeys;

	/**
	 * Creates the context of one run.
	 * @param key the claimed key
	 * @param token proves who holds it
	 */
	public IdempotencyContext(IdempotencyKey key, String token) {
		this.key = key;
		this.token = token;
		this.derivedKeys = new DerivedKeys(key);
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
	 * @return what was bound before, to be bound again in a {@code finally} block
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
	 * What proves to the store that this run holds the key. Another run of the same key
	 * has another.
	 * @return the token
	 */
	public String token() {
		return this.token;
	}

	/**
	 * Derives the key of a call to another service. A run of the same key that makes the
	 * same calls derives the same keys; two calls to one target get two, but a call that
	 * is equal to one without an answer is its retry, and gets its key.
	 * @param target what is called, such as method and URL without what differs between
	 * retries
	 * @param request what is asked for, to tell a retry from another call
	 * @return the key, to be told what became of the call
	 */
	public DerivedKey derive(String target, Fingerprint request) {
		return this.derivedKeys.next(target, request);
	}

}
