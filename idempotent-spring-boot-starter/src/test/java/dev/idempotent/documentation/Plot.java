package dev.idempotent.documentation;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * Figures as bars, in SVG that is readable on light and dark pages. Panels have a scale
 * each, because their units differ.
 */
public final class Plot {

	/**
	 * The beginning of the names of contenders that stand out.
	 */
	private static final String OURS = "ours";

	private static final int WIDTH = 800;

	private static final int LEFT = 284;

	private static final int LONGEST = 360;

	/**
	 * Characters of a line of a label, of which no font is wider than the room for it.
	 */
	private static final int CHARACTERS = 40;

	private static final int LINE = 16;

	private static final int BAR = 14;

	private static final int MOST_TICKS = 5;

	private static final String STYLE = """
			<style>
			.page{fill:#ffffff} text{fill:#1f2328} .unit{fill:#59636e} .head{font-weight:bold}
			.grid{stroke:#d1d9e0} .range{stroke:#1f2328} .one{stroke:#cf222e;stroke-dasharray:4 3}
			.part0{fill:#3b82d6} .part1{fill:#d9822b} .part2{fill:#7f9f3f} .other{fill:#9aa4af}
			@media (prefers-color-scheme: dark) {
			.page{fill:#0d1117} text{fill:#e6edf3} .unit{fill:#9198a1}
			.grid{stroke:#3d444d} .range{stroke:#e6edf3} .one{stroke:#ff7b72} .other{fill:#656c76}
			}
			</style>
			""";

	private final StringBuilder svg = new StringBuilder();

	private int y = 8;

	private Plot() {
	}

	/**
	 * Draws panels below each other.
	 * @param title what readers hear who do not see it
	 * @return the text of an SVG file
	 */
	public static String of(String title, List<Panel> panels) {
		Plot plot = new Plot();
		panels.forEach(plot::draw);
		return """
				<svg xmlns="http://www.w3.org/2000/svg" width="%1$d" height="%2$d" viewBox="0 0 %1$d %2$d" role="img"\
				 font-family="sans-serif" font-size="12">
				<title>%3$s</title>
				%4$s<rect class="page" width="100%%" height="100%%"/>
				%5$s</svg>
				""".formatted(WIDTH, plot.y, escape(title), STYLE, plot.svg);
	}

	private void draw(Panel panel) {
		lines(panel.title(), WIDTH / 7).forEach((line) -> text(8, this.y += LINE, "head", line));
		legend(panel);
		int top = this.y + 4;
		double end = Stream.concat(panel.bars().stream().map(Bar::end), Stream.of(panel.isRatio() ? 1.0 : 0.0))
			.max(Double::compare)
			.orElse(1.0);
		double scale = LONGEST / end;
		boolean withOurs = panel.bars().stream().anyMatch((bar) -> bar.label().startsWith(OURS));
		StringBuilder bars = new StringBuilder();
		for (Bar bar : panel.bars()) {
			List<String> label = lines(bar.label(), CHARACTERS);
			int height = Math.max(1, label.size()) * LINE + 6;
			int middle = this.y + 4 + height / 2;
			for (int line = 0; line < label.size(); line++) {
				text(8, middle - (label.size() - 1) * LINE / 2 + line * LINE + 4, "label", label.get(line));
			}
			bars.append(bar(bar, middle, scale, !withOurs || bar.label().startsWith(OURS)));
			this.y += height;
		}
		axis(panel, top, end, scale);
		this.svg.append(bars);
		this.y += 18;
	}

	private void legend(Panel panel) {
		if (panel.parts().isEmpty()) {
			return;
		}
		this.y += LINE + 4;
		for (int part = 0; part < panel.parts().size(); part++) {
			add("<rect class=\"part%d\" x=\"%d\" y=\"%d\" width=\"10\" height=\"10\"/>%n", part, LEFT + part * 150,
					this.y - 9);
			text(LEFT + part * 150 + 15, this.y, "label", panel.parts().get(part));
		}
	}

	private static String bar(Bar bar, int middle, double scale, boolean standsOut) {
		StringBuilder drawn = new StringBuilder();
		double from = LEFT;
		for (int part = 0; part < bar.values().size(); part++) {
			double width = bar.values().get(part) * scale;
			drawn.append(format("<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>%n",
					standsOut ? "part" + part : "other", from, middle - BAR / 2, width, BAR));
			from += width;
		}
		if (bar.high() > bar.low()) {
			drawn.append(format("<path class=\"range\" fill=\"none\" d=\"M%.1f %dv8m0-4H%.1fm0-4v8\"/>%n",
					LEFT + bar.low() * scale, middle - 4, LEFT + bar.high() * scale));
		}
		return drawn
			.append(format("<text x=\"%.1f\" y=\"%d\">%s</text>%n", LEFT + bar.end() * scale + 6, middle + 4,
					escape(bar.text())))
			.toString();
	}

	private void axis(Panel panel, int top, double end, double scale) {
		int bottom = this.y + 6;
		double step = step(end);
		for (int tick = 0; tick * step <= end * 1.0001; tick++) {
			double x = LEFT + tick * step * scale;
			add("<path class=\"grid\" d=\"M%.1f %dV%d\"/>%n", x, top, bottom);
			add("<text class=\"unit\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>%n", x, bottom + 13,
					number(tick * step));
		}
		if (panel.isRatio()) {
			add("<path class=\"one\" d=\"M%.1f %dV%d\"/>%n", LEFT + scale, top, bottom);
		}
		add("<text class=\"unit\" x=\"%d\" y=\"%d\">%s</text>%n", LEFT, bottom + 29, escape(panel.unit()));
		this.y = bottom + 30;
	}

	/**
	 * 1, 2 or 5 times a power of ten.
	 */
	private static double step(double end) {
		double least = end / MOST_TICKS;
		double power = Math.pow(10, Math.floor(Math.log10(least)));
		return Stream.of(1, 2, 5, 10)
			.map((factor) -> factor * power)
			.filter((step) -> step >= least * 0.9999)
			.findFirst()
			.orElse(least);
	}

	private static String number(double value) {
		String number = format("%,.3f", value);
		return number.contains(".") ? number.replaceAll("\\.?0+$", "") : number;
	}

	private static List<String> lines(String text, int most) {
		List<String> lines = new ArrayList<>();
		StringBuilder line = new StringBuilder();
		for (String word : text.split(" ", -1)) {
			if (!line.isEmpty() && line.length() + 1 + word.length() > most) {
				lines.add(line.toString());
				line.setLength(0);
			}
			line.append(line.isEmpty() ? "" : " ").append(word);
		}
		if (!line.isEmpty()) {
			lines.add(line.toString());
		}
		return lines;
	}

	private void text(int x, int y, String style, String text) {
		add("<text class=\"%s\" x=\"%d\" y=\"%d\">%s</text>%n", style, x, y, escape(text));
	}

	private void add(String format, Object... arguments) {
		this.svg.append(format(format, arguments));
	}

	private static String format(String format, Object... arguments) {
		return String.format(Locale.ROOT, format.replace("%n", "\n"), arguments);
	}

	private static String escape(String text) {
		return text.replace("&", "&amp;").replace("<", "&lt;");
	}

	/**
	 * Bars of one unit.
	 *
	 * @param title above the bars, may be empty
	 * @param unit of the axis; a unit with a slash is a ratio, whose line at 1 is drawn
	 * @param parts the names of the parts of each bar, empty if it has one
	 * @param bars from top to bottom
	 */
	public record Panel(String title, String unit, List<String> parts, List<Bar> bars) {

		boolean isRatio() {
			return this.unit.contains(" / ");
		}

	}

	/**
	 * A bar.
	 *
	 * @param label to the left
	 * @param values of its parts
	 * @param low where its range begins
	 * @param high where its range ends; without range as low as it begins
	 * @param text to the right
	 */
	public record Bar(String label, List<Double> values, double low, double high, String text) {

		double end() {
			return Math.max(this.high, this.values.stream().mapToDouble(Double::doubleValue).sum());
		}

	}

}
