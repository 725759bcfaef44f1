package dev.idempotent.sample.owner;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * A line that an owner prints for the JVM that has started it.
 *
 * @param word what has happened
 * @param detail the port, the moment or the status
 */
record OwnerLine(Word word, String detail) {

	private static final Pattern LINE = Pattern.compile("saga-owner: ([A-Z]+) ([A-Za-z0-9-]+)");

	/**
	 * Parses a line of the output.
	 * @return the line, or {@code null} if it is any other output
	 */
	static @Nullable OwnerLine parse(String line) {
		Matcher matcher = LINE.matcher(line);
		return matcher.matches() ? new OwnerLine(Word.valueOf(matcher.group(1)), matcher.group(2)) : null;
	}

	void print() {
		System.out.println(this);
		System.out.flush();
	}

	@Override
	public String toString() {
		return "saga-owner: " + this.word + " " + this.detail;
	}

	/**
	 * What has happened to an owner.
	 */
	enum Word {

		/**
		 * It takes requests, at the port that is the detail.
		 */
		READY,

		/**
		 * It halts, at the moment that is the detail.
		 */
		HALTS,

		/**
		 * It pauses, at the moment that is the detail.
		 */
		PAUSES,

		/**
		 * It continues after a pause.
		 */
		CONTINUES,

		/**
		 * One of its writes was refused, because another process owns the saga.
		 */
		FENCED,

		/**
		 * Its saga has ended with the status that is the detail.
		 */
		ENDED

	}

}
