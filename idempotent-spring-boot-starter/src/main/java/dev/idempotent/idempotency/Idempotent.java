package dev.idempotent.idempotency;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Gives a method one run and one answer per idempotency key: the first call runs it, a
 * retry gets the stored answer without running it again, a concurrent one is told to
 * wait, and the same key for something else is refused.
 * <p>
 * On a web handler the key comes from the request, and the answer is the response. On any
 * other method of a bean, be it called by code or by a listener container, {@link #key()}
 * names the argument that is the key, and the answer is the result; refusals are
 * {@link IdempotencyPendingException}, {@link IdempotencyMismatchException} and
 * {@link IdempotencyResultException}.
 * <p>
 * Every attribute is checked at start-up: a bad expression or duration stops the
 * application with the method's name.
 *
 * @see <a href=
 * "https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/">The
 * Idempotency-Key HTTP Header Field</a>
 */
@Target({ ElementType.METHOD, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface Idempotent {

	/**
	 * Leaves everything out of the fingerprint, as the only entry of {@link #ignore()}.
	 */
	String EVERYTHING = "*";

	/**
	 * Where a web handler's key comes from. Ignored when {@link #key()} is set.
	 * @return the source of the key
	 */
	KeySource from() default KeySource.HEADER;

	/**
	 * A SpEL expression that yields the key. On a web handler it sees {@code #headers},
	 * {@code #query}, {@code #path} (the variables of the URL's pattern), {@code #body}
	 * (the JSON tree) and {@code #principal}, and a request for which it yields nothing
	 * is answered 400. On any other method, where it must be stated, it sees the
	 * arguments by name, and a call for which it yields nothing fails with an
	 * {@link IllegalArgumentException}.
	 * @return the expression, or an empty string to use {@link #from()}
	 */
	String key() default "";

	/**
	 * The name of the operation that a key which is not a header belongs to, so that two
	 * handlers never share a derived key. Set it before renaming a method whose keys must
	 * outlive the deployment.
	 * @return the name, or an empty string for class, method and parameter types
	 */
	String name() default "";

	/**
	 * How strong the promise is.
	 * @return the guarantee, by default that of {@code idempotent.guarantee}
	 */
	Guarantee guarantee() default Guarantee.DEFAULT;

	/**
	 * What becomes of a duplicate that comes while the first run lasts.
	 * @return {@link OnPending#REJECT} or {@link OnPending#WAIT}
	 */
	OnPending onPending() default OnPending.REJECT;

	/**
	 * How long the claim on a key holds if its owner falls silent, such as {@code 30s}.
	 * It is renewed while the method runs.
	 * @return a duration, or an empty string for {@code idempotent.lease}, or for the
	 * retention if that is shorter
	 */
	String lease() default "";

	/**
	 * How long a completed key is replayed, such as {@code 24h}; at least a stated lease.
	 * Must be stated with {@link KeySource#FINGERPRINT}, which treats intentionally
	 * repeated equal requests as one for that long.
	 * @return a duration, or an empty string for {@code idempotent.retention}
	 */
	String retention() default "";

	/**
	 * What is left out of the fingerprint because it differs between retries. On a web
	 * handler names of query or form parameters, and JSON pointers to members of the body
	 * ({@code /requestedAt}); on any other method names of parameters, and JSON pointers
	 * that begin with one ({@code /event/sentAt}). With {@link #EVERYTHING} the key alone
	 * decides: whatever else a call says, it gets the answer of the first one. That takes
	 * a {@link #key()}.
	 * @return parameter names, and pointers, which begin with a slash
	 * @see <a href="https://www.rfc-editor.org/rfc/rfc6901">JSON Pointer</a>
	 */
	String[] ignore() default {};

}
