package dev.idempotent.sample.dashboard;

import java.util.Set;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class SelectorTests {

	@Test
	void findsAMetricWithoutLabels() {
		assertThat(Selector.in("max(outbox_events_dead) > 0"))
			.containsExactly(new Selector("outbox_events_dead", Set.of()));
	}

	@Test
	void findsTheLabelsOfAMetric() {
		assertThat(Selector.in("rate(requests_total{job=~\"$job\", outcome!=\"a, b=c\"}[5m])"))
			.containsExactly(new Selector("requests_total", Set.of("job", "outcome")));
	}

	@Test
	void findsTheLabelsToGroupBy() {
		assertThat(Selector.in("histogram_quantile(0.99, sum by (le, verb) (rate(store_bucket{job=\"shop\"}[1m])))"))
			.containsExactly(new Selector("store_bucket", Set.of("le", "verb", "job")));
	}

	@Test
	void findsEachMetricOfAnExpression() {
		assertThat(Selector.in("sum by (job) (rate(a_sum[1m])) / sum(rate(a_count[1m])) or max by (group) (b)"))
			.containsExactly(new Selector("a_sum", Set.of("job")), new Selector("a_count", Set.of()),
					new Selector("b", Set.of("group")));
	}

}
