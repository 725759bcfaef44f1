package dev.idempotent.benchmark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import dev.idempotent.documentation.Plot;
import dev.idempotent.documentation.Plot.Bar;
import dev.idempotent.documentation.Plot.Panel;

/**
 * What was measured, over all rounds. It has no ratios of rounds in which other processes
 * took too much of the machine.
 */
public final class Report {

	private static final double MOST_FOR_OTHERS = 0.10;

	private static final double LOWER = 0.25;

	private static final double UPPER = 0.75;

	private static final String RATIO = "  / ";

	/**
	 * The beginning of figures that are parts of one.
	 */
	private static final String PROCESSOR_TIME = "CPU us, ";

	private static final String OTHERS = "other processes";

	private static final String OTHERS_SHARE = "% of the machine";

	private final Map<Row, List<Double>> rows = new LinkedHashMap<>();

	private final Map<Row, List<Double>> ratios = new LinkedHashMap<>();

	private final List<Map.Entry<Row, Double>> ratiosOfRound = new ArrayList<>();

	/**
	 * A round of a scenario has ended.
	 * @param scenario its name
	 * @param others the share of the machine that other processes took in it; not a
	 * number if that is not known
	 */
	void end(String scenario, double others) {
		if (!Double.isNaN(others)) {
			add(scenario, OTHERS, OTHERS_SHARE, others * 100);
		}
		if (!(others > MOST_FOR_OTHERS)) {
			this.ratiosOfRound.forEach((ratio) -> (ratio.getKey().contender().isEmpty() ? this.ratios : this.rows)
				.computeIfAbsent(ratio.getKey(), (row) -> new ArrayList<>())
				.add(ratio.getValue()));
		}
		this.ratiosOfRound.clear();
	}

	/**
	 * Keeps a figure of this round.
	 * @param scenario in which it was measured
	 * @param contender whose it is
	 * @param figure what it is, with its unit
	 * @param value its value
	 */
	public void add(String scenario, String contender, String figure, double value) {
		Row row = new Row(scenario, contender, figure);
		if (figure.startsWith(RATIO)) {
			this.ratiosOfRound.add(Map.entry(row, value));
		}
		else {
			this.rows.computeIfAbsent(row, (key) -> new ArrayList<>()).add(value);
		}
	}

	/**
	 * Keeps a figure of this round that has a goal.
	 * @param name its name in the documentation, without spaces
	 * @param value its value
	 */
	public void ratio(String name, double value) {
		this.ratiosOfRound.add(Map.entry(new Row("", "", name), value));
	}

	/**
	 * Prints the figures, and writes them and their plots to {@code target/benchmark}.
	 * @param name of the files, without their endings
	 * @param server a description of the server, may be empty
	 * @param settings of the run
	 * @throws IOException if a file cannot be written
	 */
	public void publish(String name, String server, Settings settings) throws IOException {
		String text = "%nJDK %s, %d processors%s%n%s%n%n%s".formatted(Runtime.version(),
				Runtime.getRuntime().availableProcessors(), server.isEmpty() ? "" : ", " + server, settings, this);
		System.out.println(text);
		Path folder = Files.createDirectories(Path.of("target", "benchmark"));
		Files.writeString(folder.resolve(name + ".md"), text);
		Files.writeString(folder.resolve(name + ".svg"), Plot.of("Figures of " + name, panels()));
	}

	/**
	 * A panel for each figure, and one for the ratios.
	 */
	private List<Panel> panels() {
		List<Panel> panels = new ArrayList<>();
		Set<List<String>> figures = new LinkedHashSet<>();
		this.rows.keySet()
			.stream()
			.filter((row) -> !row.contender().equals(OTHERS))
			.forEach((row) -> figures.add(List.of(row.scenario(), plotted(row.figure()))));
		figures.forEach((figure) -> panels.add(panel(figure.get(0), figure.get(1))));
		if (!this.ratios.isEmpty()) {
			panels.add(new Panel("ratios", "rate / rate of the other", List.of(),
					this.ratios.entrySet()
						.stream()
						.map((ratio) -> bar(ratio.getKey().figure(), List.of(ratio.getValue())))
						.toList()));
		}
		return panels;
	}

	private static String plotted(String figure) {
		return figure.startsWith(PROCESSOR_TIME) ? PROCESSOR_TIME : figure;
	}

	private Panel panel(String scenario, String figure) {
		List<String> parts = new ArrayList<>();
		Map<String, List<List<Double>>> contenders = new LinkedHashMap<>();
		this.rows.forEach((row, values) -> {
			if (row.scenario().equals(scenario) && plotted(row.figure()).equals(figure)) {
				String part = row.figure().replace(PROCESSOR_TIME, "");
				if (!parts.contains(part)) {
					parts.add(part);
				}
				contenders.computeIfAbsent(row.contender(), (contender) -> new ArrayList<>()).add(values);
			}
		});
		String unit = figure.equals(PROCESSOR_TIME) ? "us of processor time" : figure.replaceFirst("^ +/", "figure /");
		return new Panel(scenario + ", " + unit, unit, (parts.size() == 1) ? List.of() : parts,
				contenders.entrySet().stream().map((row) -> bar(row.getKey(), row.getValue())).toList());
	}

	/**
	 * A bar without range if it has parts.
	 */
	private static Bar bar(String label, List<List<Double>> parts) {
		List<Samples> samples = parts.stream()
			.map((values) -> Samples.of(values.stream().mapToDouble(Double::doubleValue).toArray()))
			.toList();
		boolean one = samples.size() == 1;
		return new Bar(label, samples.stream().map(Samples::median).toList(),
				one ? samples.get(0).percentile(LOWER) : 0, one ? samples.get(0).percentile(UPPER) : 0,
				String.join(" + ", samples.stream().map((part) -> text(part.median())).toList()));
	}

	/**
	 * A Markdown table of each figure's median and quartiles, grouped by scenario, and a
	 * line for each figure that has a goal.
	 */
	@Override
	public String toString() {
		StringBuilder table = new StringBuilder();
		line(table, "scenario", "contender", "figure", "median", "25 %", "75 %", "times");
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
		this.rows.keySet().stream().map(Row::scenario).distinct().forEach((scenario) -> disturbances(table, scenario));
		this.ratios.forEach((row, values) -> {
			Samples samples = Samples.of(values.stream().mapToDouble(Double::doubleValue).toArray());
			table.append(String.format(Locale.ROOT, "%nRATIO %s %s %s %s", row.figure(), text(samples.median()),
					text(samples.percentile(LOWER)), text(samples.percentile(UPPER))));
		});
		return table.append(System.lineSeparator()).toString();
	}

	private void disturbances(StringBuilder table, String scenario) {
		List<Double> percents = this.rows.getOrDefault(new Row(scenario, OTHERS, OTHERS_SHARE), List.of());
		long disturbed = percents.stream().filter((percent) -> percent > MOST_FOR_OTHERS * 100).count();
		if (percents.isEmpty()) {
			table.append(String.format(Locale.ROOT, "%nNOT CHECKED whether other processes disturbed %s", scenario));
		}
		else if (disturbed > 0) {
			table.append(String.format(Locale.ROOT,
					"%nNO RATIOS of %d of %d rounds of %s: other processes took up to %.0f %% of the machine, at most %.0f %% may",
					disturbed, percents.size(), scenario, Collections.max(percents), MOST_FOR_OTHERS * 100));
		}
	}

	private static void line(StringBuilder table, Row row, List<Double> values) {
		Samples samples = Samples.of(values.stream().mapToDouble(Double::doubleValue).toArray());
		line(table, row.scenario(), row.contender(), row.figure(), text(samples.median()),
				text(samples.percentile(LOWER)), text(samples.percentile(UPPER)), Integer.toString(values.size()));
	}

	private static void line(StringBuilder table, Object... cells) {
		table.append(String.format(Locale.ROOT, "| %-12s | %-18s | %-24s | %10s | %10s | %10s | %6s |%n", cells));
	}

	private static String text(double value) {
		return String.format(Locale.ROOT, (Math.abs(value) < 100) ? "%.2f" : "%,.0f", value);
	}

	private record Row(String scenario, String contender, String figure) {
	}

}
