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
				       (select count(*) from feedback) as feedback
				""").query(Stats.class).single();
	}

}
