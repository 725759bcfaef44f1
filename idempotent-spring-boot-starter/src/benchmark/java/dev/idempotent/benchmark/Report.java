package dev.idempotent.benchmark;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What was measured, over all rounds.
 */
public final class Report {

	private final Map<Row, List<Double>> rows = new LinkedHashMap<>();

	/**
	 * Keeps a figure of this round.
	 * @param scenario in which it was measured
	 * @param contender whose it is
	 * @param figure what it is, with its unit
	 * @param value its value
	 */
	public void add(String scenario, String contender, String figure, double value) {
		this.rows.computeIfAbsent(new Row(scenario, contender, figure), (row) -> new ArrayList<>()).add(value);
	}

	/**
	 * Forgets everything, as after a warm-up.
	 */
	public void clear() {
		this.rows.clear();
	}

	/**
	 * A Markdown table of each figure's median and range, grouped by scenario.
	 */
	@Override
	public String toString() {
		StringBuilder table = new StringBuilder();
		line(table, "scenario", "contender", "figure", "median", "min", "max", "rounds");
		line(table, "---", "---", "---", "---:", "---:", "---:", "---:");
		this.rows.keySet()
			.stream()
			.map(Row::scenario)
			.distinct()
			.forEach((scenario) -> this.rows.forEach((row, values) -> {
				if (row.scenario().equals(scenario)) {
					line(table, row, values);
				}
			}));
		return table.toString();
	}

	private static void line(StringBuilder table, Row row, List<Double> values) {
		Samples samples = Samples.of(values.stream().mapToDouble(Double::doubleValue).toArray());
		line(table, row.scenario(), row.contender(), row.figure(), text(samples.median()), text(samples.min()),
				text(samples.max()), Integer.toString(values.size()));
	}

	private static void line(StringBuilder table, Object... cells) {
		table.append(String.format(Locale.ROOT, "| %-12s | %-15s | %-24s | %10s | %10s | %10s | %6s |%n", cells));
	}

	private static String text(double value) {
		return String.format(Locale.ROOT, (Math.abs(value) < 100) ? "%.2f" : "%,.0f", value);
	}

	private record Row(String scenario, String contender, String figure) {
	}

}
