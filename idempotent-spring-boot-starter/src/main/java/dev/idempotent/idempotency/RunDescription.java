package dev.idempotent.idempotency;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;

/**
 * What runs under a claimed key and where, for operators. Contains neither the key nor
 * who has called. A store keeps it while the key is PENDING.
 *
 * @param operation the name of the operation
 * @param instance the process that has claimed the key
 * @param step whether the claim is one of a step of the run
 */
public record RunDescription(String operation, String instance, boolean step) {

	private static final int MAX_LENGTH = 200;

	private static final String RUN = "run";

	private static final String STEP = "step";

	/**
	 * Replaces line breaks, and truncates what is longer than 200 characters.
	 */
	public RunDescription {
		operation = line(operation);
		instance = line(instance);
	}

	/**
	 * Reads a stored description.
	 * @param bytes what {@link #toBytes()} returned
	 * @return the description, or {@code null} if another version wrote the bytes, or
	 * there are none
	 */
	public static @Nullable RunDescription parse(byte[] bytes) {
		String[] lines = new String(bytes, StandardCharsets.UTF_8).split("\n", -1);
		boolean known = lines.length == 3 && (lines[0].equals(RUN) || lines[0].equals(STEP));
		return known ? new RunDescription(lines[1], lines[2], lines[0].equals(STEP)) : null;
	}

	/**
	 * Describes a step of the same run.
	 * @return the description of the step's own claim
	 */
	public RunDescription ofStep() {
		return new RunDescription(this.operation, this.instance, true);
	}

	/**
	 * The form in which a store keeps the description.
	 * @return a new array of at most 1,606 bytes
	 */
	public byte[] toBytes() {
		return ((this.step ? STEP : RUN) + "\n" + this.operation + "\n" + this.instance)
			.getBytes(StandardCharsets.UTF_8);
	}

	private static String line(String text) {
		// The common case, which occurs for each claim.
		if (isLine(text)) {
			return text;
		}
		int[] characters = text.codePoints().limit(MAX_LENGTH).map((each) -> (each < ' ') ? ' ' : each).toArray();
		return Arrays.stream(characters)
			.collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
			.toString();
	}

	private static boolean isLine(String text) {
		for (int i = 0; i < text.length(); i++) {
			if (text.charAt(i) < ' ') {
				return false;
			}
		}
		return text.length() <= MAX_LENGTH;
	}

}
