package dev.idempotent.sample.dashboard;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What Prometheus reads from an application: the labels of each metric.
 */
record Scrape(Map<String, Set<String>> metrics) {

	private static final Pattern SAMPLE = Pattern.compile("(?m)^([a-zA-Z_:][\\w:]*)(?:\\{(.*)})? \\S+$");

	private static final Pattern LABEL = Pattern.compile("([a-zA-Z_]\\w*)=\"(?:[^\"\\\\]|\\\\.)*\"");

	/**
	 * The labels that Prometheus adds to what it reads.
	 */
	private static final Set<String> TARGET = Set.of("job", "instance");

	/**
	 * Parses the text format.
	 */
	static Scrape parse(String text) {
		Map<String, Set<String>> metrics = new HashMap<>();
		SAMPLE.matcher(text).results().forEach((sample) -> {
			Set<String> labels = metrics.computeIfAbsent(sample.group(1), (name) -> new LinkedHashSet<>(TARGET));
			if (sample.group(2) != null) {
				LABEL.matcher(sample.group(2)).results().forEach((label) -> labels.add(label.group(1)));
			}
		});
		return new Scrape(metrics);
	}

	/**
	 * Returns what an expression selects and this application does not have.
	 */
	Set<String> missing(String expression) {
		Set<String> missing = new TreeSet<>();
		for (Selector selector : Selector.in(expression)) {
			Set<String> labels = this.metrics.get(selector.metric());
			if (labels == null) {
				missing.add(selector.metric());
			}
			else {
				selector.labels()
					.stream()
					.filter((label) -> !labels.contains(label))
					.forEach((label) -> missing.add(selector.metric() + "{" + label + "}"));
			}
		}
		return missing;
	}

	/**
	 * Returns the name of a meter without the suffix of one of its time series.
	 */
	static String meterOf(String metric) {
		Matcher suffix = Pattern.compile("_(?:count|sum|bucket|max|total)$").matcher(metric);
		return suffix.replaceFirst("");
	}

}
