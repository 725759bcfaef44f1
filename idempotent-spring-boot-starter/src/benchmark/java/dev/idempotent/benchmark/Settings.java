package dev.idempotent.benchmark;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a run is asked to do: the system properties that begin with {@code benchmark.}.
 */
public final class Settings {

	private static final String PREFIX = "benchmark.";

	private final Map<String, String> used = new TreeMap<>();

	/**
	 * A number.
	 * @param name the property without its prefix
	 * @param otherwise the number if nothing is stated
	 * @return what is stated, or the other
	 * @throws NumberFormatException if what is stated is not a number
	 */
	public int number(String name, int otherwise) {
		return Integer.parseInt(text(name, Integer.toString(otherwise)));
	}

	/**
	 * Names, separated by commas.
	 * @param name the property without its prefix
	 * @param otherwise the names if nothing is stated
	 * @return what is stated, or the other
	 */
	public List<String> names(String name, String otherwise) {
		return List.of(text(name, otherwise).split("\\s*,\\s*"));
	}

	/**
	 * A word.
	 * @param name the property without its prefix
	 * @param otherwise the word if nothing is stated
	 * @return what is stated, or the other
	 */
	public String text(String name, String otherwise) {
		String value = System.getProperty(PREFIX + name, otherwise);
		this.used.put(PREFIX + name, value);
		return value;
	}

	/**
	 * All that has been asked for, as the options that repeat the run.
	 */
	@Override
	public String toString() {
		StringBuilder options = new StringBuilder();
		this.used.forEach((name, value) -> options.append(" -D").append(name).append('=').append(value));
		return options.toString().strip();
	}

}
