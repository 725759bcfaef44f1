package dev.idempotent.benchmark.http;

import java.util.List;
import java.util.Locale;

import dev.idempotent.benchmark.Report;

/**
 * A chart of the processor time of a request, as SVG: a bar for each contender, with a
 * part for the application, Redis and PostgreSQL.
 */
final class Chart {

	private static final List<String> PARTS = List.of("application", "Redis", "PostgreSQL");

	private static final List<String> COLORS = List.of("#4472c4", "#c0504d", "#7f9f3f");

	private static final int LEFT = 210;

	private static final int WIDTH = 560;

	private static final int ROW = 24;

	private final Report report;

	private final List<String> contenders;

	Chart(Report report, List<String> contenders) {
		this.report = report;
		this.contenders = contenders;
	}

	@Override
	public String toString() {
		double longest = this.contenders.stream().mapToDouble(this::sum).max().orElse(1);
		StringBuilder svg = new StringBuilder();
		add(svg, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\""
				+ " font-size=\"13\">%n", LEFT + WIDTH + 80, ROW * (this.contenders.size() + 2));
		add(svg, "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>%n");
		for (int part = 0; part < PARTS.size(); part++) {
			text(svg, LEFT + part * 190, 1, COLORS.get(part), "CPU µs, " + PARTS.get(part));
		}
		for (int row = 0; row < this.contenders.size(); row++) {
			bar(svg, this.contenders.get(row), row + 2, WIDTH / longest);
		}
		return svg.append("</svg>").append(System.lineSeparator()).toString();
	}

	private void bar(StringBuilder svg, String contender, int row, double scale) {
		text(svg, 8, row, "black", contender);
		double from = LEFT;
		for (int part = 0; part < PARTS.size(); part++) {
			double width = micros(contender, PARTS.get(part)) * scale;
			add(svg, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>%n", from,
					(row - 1) * ROW + ROW / 4, width, ROW - 6, COLORS.get(part));
			from += width;
		}
		text(svg, (int) from + 6, row, "black", String.format(Locale.ROOT, "%,.0f", sum(contender)));
	}

	private double sum(String contender) {
		return PARTS.stream().mapToDouble((part) -> micros(contender, part)).sum();
	}

	/**
	 * 0 if the system does not tell.
	 */
	private double micros(String contender, String part) {
		double micros = this.report.median("throughput", contender, "CPU us, " + part);
		return Double.isNaN(micros) ? 0 : micros;
	}

	private static void text(StringBuilder svg, int x, int row, String color, String text) {
		add(svg, "<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>%n", x, row * ROW - 3, color, text);
	}

	private static void add(StringBuilder svg, String format, Object... arguments) {
		svg.append(String.format(Locale.ROOT, format, arguments));
	}

}
