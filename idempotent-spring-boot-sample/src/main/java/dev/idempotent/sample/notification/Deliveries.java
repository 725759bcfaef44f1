package dev.idempotent.sample.notification;

import java.util.Map;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * One row per delivery of an event, which stays when the work on the event rolls back.
 */
@Component
class Deliveries {

	private final JdbcClient jdbc;

	Deliveries(JdbcClient jdbc) {
		this.jdbc = jdbc;
	}

	/**
	 * Counts a delivery before anything comes of it, and keeps whether the event had been
	 * handled by then: a later attempt at an event that failed is no duplicate.
	 */
	void count(Map<String, String> headers) {
		this.jdbc.sql("""
				insert into delivery (event_id, handled_before)
				values (:eventId, exists (select 1 from notification where event_id = :eventId))
				""").param("eventId", EventHeaders.of(headers).id()).update();
	}

}
