package dev.idempotent.sample.dashboard;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class ScrapeTests {

	private final Scrape scrape = Scrape.parse("""
			# HELP outbox_dead_total Events that became dead
			# TYPE outbox_dead_total counter
			outbox_dead_total{publisher="redis-stream"} 0.0
			outbox_events_dead NaN
			""");

	@Test
	void hasWhatPrometheusReadsAndAdds() {
		assertThat(this.scrape.missing("sum by (publisher, instance) (rate(outbox_dead_total{job=\"shop\"}[1m]))"))
			.isEmpty();
		assertThat(this.scrape.missing("max(outbox_events_dead)")).isEmpty();
	}

	@Test
	void lacksOtherMetrics() {
		assertThat(this.scrape.missing("outbox_dead_events_total + outbox_events_dead"))
			.containsExactly("outbox_dead_events_total");
	}

	@Test
	void lacksOtherLabels() {
		assertThat(this.scrape.missing("sum by (topic) (rate(outbox_dead_total{publisher=\"test\"}[1m]))"))
			.containsExactly("outbox_dead_total{topic}");
	}

}
