package dev.idempotent.sample.stats;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
class StatsController {

	private final JdbcClient jdbc;

	StatsController(JdbcClient jdbc) {
		this.jdbc = jdbc;
	}

	@GetMapping("/api/stats")
	Stats stats() {
		return this.jdbc.sql("""
				select (select count(*) from orders) as orders,
				       (select count(*) from payments) as payments,
				       (select count(*) from charges where approved) as charges,
				       (select count(*) from feedback) as feedback,
				       (select count(*) from delivery) as events_delivered,
				       (select count(*) from notification) as events_handled,
				       (select count(*) from delivery where handled_before)
				         - (select count(*) - count(distinct event_id) from notification) as duplicates_dropped
				""").query(Stats.class).single();
	}

}
