package dev.idempotent.documentation;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

import dev.idempotent.documentation.BenchmarkPlots.Kind;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The plots of docs/benchmark.md show the figures of its tables. With
 * {@code -Dbenchmark.draw=true}, this test draws them.
 */
class BenchmarkPageTests {

	private static final Map<String, Kind> KINDS = Map.of("benchmark-http.svg", Kind.LAST_COLUMN,
			"benchmark-http-cost.svg", Kind.PARTS, "benchmark-http-database.svg", Kind.PARTS, "benchmark-outbox.svg",
			Kind.PANEL_FOR_EACH_ROW, "benchmark-outbox-keys.svg", Kind.LAST_COLUMN, "benchmark-handlers.svg",
			Kind.PANEL_FOR_EACH_ROW, "benchmark-sagas.svg", Kind.PANEL_FOR_EACH_COLUMN, "benchmark-waits.svg",
			Kind.PANEL_FOR_EACH_ROW, "benchmark-fingerprints.svg", Kind.PANEL_FOR_EACH_ROW, "benchmark-methods.svg",
			Kind.PANEL_FOR_EACH_COLUMN);

	private static final Page PAGE = Page.of("docs/benchmark.md");

	private final BenchmarkPlots plots = new BenchmarkPlots(PAGE.text(), KINDS);

	@Test
	void plotsShowTheFiguresOfTheTables() throws IOException {
		assertThat(this.plots.drawn()).containsOnlyKeys(KINDS.keySet());
		for (Map.Entry<String, String> plot : this.plots.drawn().entrySet()) {
			Path file = PAGE.resolve(plot.getKey());
			if (Boolean.getBoolean("benchmark.draw")) {
				Files.writeString(file, plot.getValue());
			}
			assertThat(Files.readString(file).replace("\r\n", "\n"))
				.as("%s; -Dtest=BenchmarkPageTests -Dbenchmark.draw=true draws it again", plot.getKey())
				.isEqualTo(plot.getValue());
		}
	}

	/**
	 * All but what a saga sends, the scenarios of the outbox, and how to repeat the page.
	 */
	@Test
	void eachTableThatComparesHasAPlot() {
		assertThat(this.plots.withoutPlot()).containsExactly("scenario", "saga",
				"./mvnw verify -Pbenchmark -pl idempotent-spring-boot-starter and", "system property benchmark.");
	}

}
