package dev.idempotent.token;

import java.time.Duration;

/**
 * The result of the verification of a one-time token.
 *
 * @param outcome whether it may be used
 * @param serial the random part, which no other token has; empty unless the token is
 * authentic
 * @param retention how long the outcome of its use must be kept at least, so that the
 * token cannot be used twice
 */
public record TokenCheck(Outcome outcome, String serial, Duration retention) {

	static TokenCheck without(Outcome outcome) {
		return new TokenCheck(outcome, "", Duration.ZERO);
	}

	/**
	 * The results of a verification.
	 */
	public enum Outcome {

		/**
		 * The token is authentic and has not expired.
		 */
		VALID,

		/**
		 * The token is authentic and has expired: it may be answered as before, but must
		 * not run anything.
		 */
		EXPIRED,

		/**
		 * The token was changed, or issued by another application, with another secret,
		 * for another purpose or for another caller.
		 */
		REFUSED,

		/**
		 * The text is not a token.
		 */
		MALFORMED

	}

}
