package dev.idempotent.idempotency;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs a method once per idempotency key. The first call runs it; a retry gets the stored
 * response without a second run; a concurrent duplicate is refused or waits; another
 * request with the same key is refused.
 * <p>
 * On a web handler the key comes from the request, and the HTTP response is stored. On
 * any other method of a bean, called by code or by a listener container, {@link #key()}
 * selects the key from the arguments, and the return value is stored. A refused call
 * throws {@link IdempotencyPendingException}, {@link IdempotencyMismatchException} or
 * {@link IdempotencyResultException}. On a tool of Spring AI, which an agent calls, see
 * {@link KeySource#TOOL_CALL}.
 * <p>
 * All attributes are checked at start-up: an invalid expression or duration stops the
 * application with a message that names the method.
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
	 * Excludes everything from the fingerprint, as the only entry of {@link #ignore()}.
	 */
	String EVERYTHING = "*";

	/**
	 * The source of the key of a web handler, or {@link KeySource#TOOL_CALL} on the tool
	 * of an agent. A web handler with {@link #key()} has no other source, and
	 * {@link KeySource#TOKEN} excludes that attribute.
	 * @return the source of the key
	 */
	KeySource from() default KeySource.HEADER;

	/**
	 * A SpEL expression for the key. On a web handler the variables are {@code #headers},
	 * {@code #query}, {@code #path} (the URI template variables), {@code #body} (the JSON
	 * tree) and {@code #principal}; a request for which the expression has no value gets
	 * {@code 400}. On any other method the expression is required and the variables are
	 * the arguments by name; a call for which it has no value, or one that cannot be told
	 * from others (see {@link CanonicalForm}), fails with an
	 * {@link IllegalArgumentException}. With {@link KeySource#TOOL_CALL} the expression
	 * is not required, and a call for which it has no value is identified otherwise.
	 * @return the expression, or an empty string to use {@link #from()}
	 */
	String key() default "";

	/**
	 * The operation name, part of every key that is not a client header. Required for
	 * these: on every method that is not a web handler, and on a web handler with
	 * {@link #key()} or another source than {@link KeySource#HEADER}; with
	 * {@link KeySource#TOKEN} it is the purpose of the tokens. It must never change,
	 * because completed calls would run again.
	 * <p>
	 * A name that is part of keys belongs to one method of one bean, but handlers may
	 * share the purpose of tokens; a method and a web handler may have the same name,
	 * because their keys are of different kinds. If a class has two beans, give each a
	 * name of its own: override the method in a subclass and annotate it there.
	 * <p>
	 * A name has at most 100 characters: letters ({@code A} to {@code Z} in both cases),
	 * digits, dots, hyphens and underscores, the first of which is a letter or a digit.
	 * Placeholders are not replaced.
	 * @return the name, or an empty string if all keys are client headers
	 */
	String name() default "";

	/**
	 * How strong the promise is.
	 * @return the guarantee, by default the one of {@code idempotent.guarantee}
	 */
	Guarantee guarantee() default Guarantee.DEFAULT;

	/**
	 * How to handle a duplicate that arrives while the first run is in progress.
	 * @return {@link OnPending#REJECT} or {@link OnPending#WAIT}
	 */
	OnPending onPending() default OnPending.REJECT;

	/**
	 * How long the claim on a key holds if its process dies, such as {@code 30s}. It is
	 * renewed while the method runs.
	 * @return a duration, or an empty string for the shortest of
	 * {@code idempotent.lease}, the retention and the window
	 */
	String lease() default "";

	/**
	 * How long a stored response is replayed, such as {@code 24h}; no shorter than the
	 * lease. Required with {@link KeySource#FINGERPRINT}, which treats equal requests as
	 * retries for that long, even where both were intended. With {@link KeySource#TOKEN}
	 * the response is kept until the token has expired, if that is later.
	 * @return a duration, or an empty string for {@code idempotent.retention}
	 */
	String retention() default "";

	/**
	 * How long calls of a tool with equal arguments and without a key of the client are
	 * retries of the first one, such as {@code 15m}, counted from its end; no shorter
	 * than the lease. A second, intended call needs other arguments or a key until then.
	 * Calls with a key are retries for {@link #retention()}.
	 * @return a duration; required with {@link KeySource#TOOL_CALL}, and empty otherwise
	 */
	String window() default "";

	/**
	 * The parts of a request to exclude from the fingerprint because they differ between
	 * retries. On a web handler these are names of query or form parameters and JSON
	 * pointers to members of the body ({@code /requestedAt}); on any other method they
	 * are names of parameters and JSON pointers that start with one
	 * ({@code /event/sentAt}) and name members as their fields in Java. With
	 * {@link #EVERYTHING} only the key is compared; this requires a {@link #key()}.
	 * @return parameter names, and pointers, which start with a slash
	 * @see <a href="https://www.rfc-editor.org/rfc/rfc6901">JSON Pointer</a>
	 */
	String[] ignore() default {};

	/**
	 * The request headers that decide the work of a web handler, such as
	 * {@code X-Account}: their values become part of the fingerprint, and of keys that
	 * are the fingerprint. {@code Host} stands for the host that the client has
	 * addressed, as gateways forward it, otherwise as sent. Headers that differ between
	 * retries, such as {@code Authorization}, are refused.
	 * @return names of headers, in any case
	 */
	String[] include() default {};

}
