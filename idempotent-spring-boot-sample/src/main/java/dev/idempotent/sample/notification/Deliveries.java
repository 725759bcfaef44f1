package dev.idempotent.sample.notification;

import java.util.Map;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * The deliveries of events, one row each. They remain if the work on an event is rolled
 * back.
 */
@Component
class Deliveries {

	private final JdbcClient jdbc;

	Deliveries(JdbcClient jdbc) {
		this.jdbc = jdbc;
	}

	/**
	 * Counts a delivery before it is handled, and records whether its event had been
	 * handled before: a redelivery after a failure does not count as a duplicate.
	 */
	void count(Map<String, String> headers) {
		this.jdbc.sql("""
				insert into delivery (event_id, handled_before)
				values (:eventId, exists (select 1 from notification where event_id = :eventId))
				""").param("eventId", EventHeaders.of(headers).id()).update();
	}

}
