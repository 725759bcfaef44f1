package dev.idempotent.documentation;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import dev.idempotent.documentation.Plot.Bar;
import dev.idempotent.documentation.Plot.Panel;
import org.jspecify.annotations.Nullable;

/**
 * The plots of docs/benchmark.md, each drawn from the table above its image. A unit is
 * what stands behind the last comma of a head or of the first cell of a row.
 */
final class BenchmarkPlots {

	private static final Pattern IMAGE = Pattern.compile("!\\[([^]]+)]\\(([^)]+\\.svg)\\)");

	/**
	 * A median, its range, and the unit or a remark.
	 */
	private static final Pattern FIGURE = Pattern
		.compile("(\\d[\\d,.]*)( \\((\\d[\\d,.]*)–(\\d[\\d,.]*)\\))?( \\S+)?(, .+)?");

	private final Map<String, String> drawn = new LinkedHashMap<>();

	private final List<Table> withoutPlot = new ArrayList<>();

	/**
	 * Draws the plots of a page.
	 * @param text the page in Markdown
	 * @param kinds how each file is drawn
	 */
	BenchmarkPlots(String text, Map<String, Kind> kinds) {
		List<String> lines = text.lines().toList();
		Table table = null;
		for (int i = 0; i < lines.size(); i++) {
			Matcher image = IMAGE.matcher(lines.get(i));
			if (lines.get(i).startsWith("|")) {
				int end = i;
				while (end < lines.size() && lines.get(end).startsWith("|")) {
					end++;
				}
				table = Table.of(lines.subList(i, end));
				this.withoutPlot.add(table);
				i = end;
			}
			else if (image.matches()) {
				Kind kind = Objects.requireNonNull(kinds.get(image.group(2)), image.group(2));
				this.drawn.put(image.group(2),
						Plot.of(image.group(1), kind.panels(Objects.requireNonNull(table, image.group(2)))));
				this.withoutPlot.remove(table);
			}
		}
	}

	/**
	 * The text of each file.
	 */
	Map<String, String> drawn() {
		return this.drawn;
	}

	/**
	 * The first heads of the tables that no image follows.
	 */
	List<String> withoutPlot() {
		return this.withoutPlot.stream().map((table) -> table.heads().get(0)).toList();
	}

	/**
	 * How a table is drawn.
	 */
	enum Kind {

		/**
		 * A panel for each row with figures, and a bar for each of its cells.
		 */
		PANEL_FOR_EACH_ROW {
			@Override
			List<Panel> panels(Table table) {
				return table.rows()
					.stream()
					.filter(BenchmarkPlots::hasFigures)
					.map((row) -> panel(row.get(0),
							IntStream.range(1, row.size())
								.filter((column) -> !row.get(column).isEmpty())
								.mapToObj((column) -> figure(table.heads().get(column), row.get(column)))
								.toList()))
					.toList();
			}
		},

		/**
		 * A panel for each column with figures, and a bar for each row.
		 */
		PANEL_FOR_EACH_COLUMN {
			@Override
			List<Panel> panels(Table table) {
				return IntStream.range(1, table.heads().size())
					.filter((column) -> table.rows()
						.stream()
						.anyMatch((row) -> FIGURE.matcher(row.get(column)).matches()))
					.mapToObj((column) -> panel(table.heads().get(column),
							table.rows()
								.stream()
								.filter((row) -> !row.get(column).isEmpty())
								.map((row) -> figure(row.get(0), row.get(column)))
								.toList()))
					.toList();
			}
		},

		/**
		 * A bar for each row, from the last column; the others are its label.
		 */
		LAST_COLUMN {
			@Override
			List<Panel> panels(Table table) {
				int last = table.heads().size() - 1;
				return List.of(new Panel("", table.heads().get(last), List.of(),
						table.rows()
							.stream()
							.map((row) -> figure(row.get(1) + " / " + row.get(0), row.get(last)))
							.toList()));
			}
		},

		/**
		 * A bar for each row, whose parts are the columns of the unit that the first one
		 * has.
		 */
		PARTS {
			@Override
			List<Panel> panels(Table table) {
				String unit = unit(table.heads().get(1));
				List<Integer> columns = IntStream.range(1, table.heads().size())
					.filter((column) -> table.heads().get(column).endsWith(", " + unit))
					.boxed()
					.toList();
				return List
					.of(new Panel("", unit, columns.stream().map((column) -> title(table.heads().get(column))).toList(),
							table.rows().stream().map((row) -> {
								List<Bar> parts = columns.stream()
									.filter((column) -> !row.get(column).isEmpty())
									.map((column) -> figure(row.get(0), row.get(column)))
									.toList();
								return new Bar(row.get(0),
										columns.stream().map((column) -> value(row.get(column))).toList(), 0, 0,
										String.join(" + ", parts.stream().map(Bar::text).toList()));
							}).toList()));
			}
		};

		abstract List<Panel> panels(Table table);

	}

	private static Panel panel(String label, List<Bar> bars) {
		return new Panel(label, unit(label), List.of(), bars);
	}

	private static String title(String label) {
		return label.contains(", ") ? label.substring(0, label.lastIndexOf(", ")) : label;
	}

	private static String unit(String label) {
		if (!label.contains(", ")) {
			throw new IllegalArgumentException("'" + label + "' has no unit");
		}
		return label.substring(label.lastIndexOf(", ") + 2);
	}

	private static boolean hasFigures(List<String> row) {
		return row.stream().skip(1).anyMatch((cell) -> FIGURE.matcher(cell).matches());
	}

	private static Bar figure(String label, String cell) {
		Matcher figure = FIGURE.matcher(cell);
		if (!figure.matches()) {
			throw new IllegalArgumentException("'" + cell + "' of '" + label + "' is not a figure");
		}
		double low = value(figure.group(3));
		double high = value(figure.group(4));
		return new Bar(label, List.of(value(figure.group(1))), low, high, cell);
	}

	/**
	 * A number; 0 of an empty cell.
	 */
	private static double value(@Nullable String text) {
		return (text == null || text.isEmpty()) ? 0 : Double.parseDouble(text.replace(",", ""));
	}

	/**
	 * A table of a page, without Markdown in its cells.
	 *
	 * @param heads of the columns
	 * @param rows below them
	 */
	record Table(List<String> heads, List<List<String>> rows) {

		static Table of(List<String> lines) {
			List<List<String>> rows = lines.stream().map(Table::cells).toList();
			return new Table(rows.get(0), rows.subList(2, rows.size()));
		}

		private static List<String> cells(String line) {
			return Stream.of(line.substring(1, line.lastIndexOf('|')).split("\\|", -1))
				.map((cell) -> cell.strip().replace("`", "").replaceAll("\\[([^]]+)]\\([^)]+\\)", "$1"))
				.toList();
		}

	}

}
