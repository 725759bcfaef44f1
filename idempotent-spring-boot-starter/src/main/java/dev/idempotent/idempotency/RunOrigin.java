package dev.idempotent.idempotency;

import java.time.Instant;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * Where a run comes from, for operators. It is part of the run's token and of its stored
 * response, so that it can be determined in both states of a key.
 *
 * @param since when the key was claimed, by the clock of the claiming process
 * @param guarantee the guarantee of the run, never {@link Guarantee#DEFAULT}
 * @param traceparent the trace context in which the key was claimed, in the format of
 * <a href="https://www.w3.org/TR/trace-context/">W3C Trace Context</a>; {@code null}
 * without one
 */
public record RunOrigin(Instant since, Guarantee guarantee, @Nullable String traceparent) {

	private static final Pattern TEXT = Pattern.compile("([0-9a-z]{1,12})\\.([lt])\\.(.*)");

	private static final Pattern TRACEPARENT = Pattern
		.compile("(?!ff)[0-9a-f]{2}-((?!0{32})[0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-([0-9a-f]{2})");

	private static final int FLAGS = 3;

	private static final int HEXADECIMAL = 16;

	private static final int RADIX = 36;

	private static final int TOKEN_ID_LENGTH = 36;

	/**
	 * Leaves out a trace context in another format.
	 */
	public RunOrigin {
		traceparent = (traceparent != null && TRACEPARENT.matcher(traceparent).matches()) ? traceparent : null;
	}

	/**
	 * Reads the origin of a claim from its token.
	 * @param token the token
	 * @return the origin, or {@code null} if another program or version wrote the token
	 */
	public static @Nullable RunOrigin ofToken(String token) {
		return (token.length() > TOKEN_ID_LENGTH && token.charAt(TOKEN_ID_LENGTH) == '.')
				? parse(token.substring(TOKEN_ID_LENGTH + 1)) : null;
	}

	/**
	 * Reads the text form.
	 * @param text what {@link #toText()} returned
	 * @return the origin, or {@code null} if the text has another format
	 */
	public static @Nullable RunOrigin parse(String text) {
		Matcher parts = TEXT.matcher(text);
		if (!parts.matches()) {
			return null;
		}
		return new RunOrigin(Instant.ofEpochMilli(Long.parseLong(parts.group(1), RADIX)),
				parts.group(2).equals("t") ? Guarantee.TRANSACTION : Guarantee.LEASE, parts.group(3));
	}

	/**
	 * Creates a token that contains this origin.
	 * @param id a UUID that no other claim has
	 * @return the token, at most 128 ASCII characters
	 */
	public String toToken(String id) {
		return id + "." + toText();
	}

	/**
	 * The text form, without white space.
	 * @return at most 72 ASCII characters
	 */
	public String toText() {
		return Long.toString(this.since.toEpochMilli(), RADIX)
				+ ((this.guarantee == Guarantee.TRANSACTION) ? ".t." : ".l.")
				+ ((this.traceparent != null) ? this.traceparent : "");
	}

	/**
	 * The id of the trace.
	 * @return 32 hexadecimal digits, or {@code null} without a trace
	 */
	public @Nullable String traceId() {
		return part(1);
	}

	/**
	 * The id of the span in which the key was claimed.
	 * @return 16 hexadecimal digits, or {@code null} without a trace
	 */
	public @Nullable String spanId() {
		return part(2);
	}

	/**
	 * Whether the trace is recorded.
	 * @return {@code false} without a trace
	 */
	public boolean isSampled() {
		String flags = part(FLAGS);
		return flags != null && (Integer.parseInt(flags, HEXADECIMAL) & 1) == 1;
	}

	private @Nullable String part(int group) {
		if (this.traceparent == null) {
			return null;
		}
		Matcher parts = TRACEPARENT.matcher(this.traceparent);
		return parts.matches() ? parts.group(group) : null;
	}

}
