package dev.idempotent.saga.store;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * What the journal records of the call of an action, or of its undo, while the outcome is
 * unknown. Without a record, nothing is known of the call.
 */
public sealed interface RecordedCall {

	/**
	 * Reads a stored text.
	 * @param text the text, or {@code null}
	 * @return what it records, or {@code null}
	 */
	static @Nullable RecordedCall of(@Nullable String text) {
		if (text == null) {
			return null;
		}
		Matcher notMade = NotMade.TEXT.matcher(text);
		if (notMade.matches()) {
			return new NotMade(Long.parseUnsignedLong(notMade.group(1)));
		}
		return Stream.of(AtMostOnce.values())
			.filter((state) -> state.text().equals(text))
			.findFirst()
			.<RecordedCall>map((state) -> state)
			.orElseGet(() -> new Made(text));
	}

	/**
	 * The text to store, which earlier versions also read.
	 * @return at most 300 characters
	 */
	String text();

	/**
	 * A call was made under the key of the step. The next attempt may only repeat it
	 * unchanged.
	 *
	 * @param identity the identity of the call, as the context of the run returns it
	 */
	record Made(String identity) implements RecordedCall {

		@Override
		public String text() {
			return this.identity;
		}

	}

	/**
	 * Neither an attempt of this owner nor an earlier one has made a call under the key.
	 * Says nothing of later owners, who may have made one and died.
	 *
	 * @param epoch the epoch of the owner, never negative
	 */
	record NotMade(long epoch) implements RecordedCall {

		private static final String PREFIX = "none ";

		private static final Pattern TEXT = Pattern.compile(PREFIX + "(\\d{1,19})");

		@Override
		public String text() {
			return PREFIX + this.epoch;
		}

	}

	/**
	 * The call must not be repeated by itself: its service does not recognize a repeated
	 * one.
	 */
	enum AtMostOnce implements RecordedCall {

		/**
		 * The call may have been made.
		 */
		BEGUN("once"),

		/**
		 * The call may have been made, and the saga was halted because of that.
		 */
		REPORTED("once reported"),

		/**
		 * The call may be made again, because an operator has retried the saga that was
		 * halted because of it.
		 */
		RETRIED("once retried");

		private final String text;

		AtMostOnce(String text) {
			this.text = text;
		}

		@Override
		public String text() {
			return this.text;
		}

	}

}
