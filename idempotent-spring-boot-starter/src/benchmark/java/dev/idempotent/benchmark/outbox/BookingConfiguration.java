package dev.idempotent.benchmark.outbox;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * What all applications with a handler have.
 */
@Import(StatementCount.class)
@Configuration(proxyBeanMethods = false)
class BookingConfiguration {

	@Bean
	Booking booking(JdbcTemplate jdbc) {
		return new Booking(jdbc);
	}

}
