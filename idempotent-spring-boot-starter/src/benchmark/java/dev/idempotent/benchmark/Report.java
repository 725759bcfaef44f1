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

	private final Map<String, List<Double>> ratios = new LinkedHashMap<>();

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
	 * Keeps a figure of this round that has a goal.
	 * @param name its name in the documentation, without spaces
	 * @param value its value
	 */
	public void ratio(String name, double value) {
		this.ratios.computeIfAbsent(name, (key) -> new ArrayList<>()).add(value);
	}

	/**
	 * The median of a figure.
	 * @param scenario in which it was measured
	 * @param contender whose it is
	 * @param figure what it is
	 * @return not a number if it was not measured
	 */
	public double median(String scenario, String contender, String figure) {
		List<Double> values = this.rows.getOrDefault(new Row(scenario, contender, figure), List.of());
		return values.isEmpty() ? Double.NaN
				: Samples.of(values.stream().mapToDouble(Double::doubleValue).toArray()).median();
	}

	/**
	 * Forgets everything, as after a warm-up.
	 */
	public void clear() {
		this.rows.clear();
		this.ratios.clear();
	}

	/**
	 * A Markdown table of each figure's median and range, grouped by scenario, and a line
	 * for each figure that has a goal.
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
		this.ratios.forEach((name, values) -> {
			Samples samples = Samples.of(values.stream().mapToDouble(Double::doubleValue).toArray());
			table.append(String.format(Locale.ROOT, "%nRATIO %s %s %s %s", name, text(samples.median()),
					text(samples.min()), text(samples.max())));
		});
		return table.append(System.lineSeparator()).toString();
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
