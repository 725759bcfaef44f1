package dev.idempotent.outbox.crash;

import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import dev.idempotent.outbox.crash.CrashedHandlers.HandlerApplication;
import dev.idempotent.outbox.crash.EventBroker.PublishedEvent;
import dev.idempotent.outbox.crash.OrderAudit.Recorded;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * The crash run of handlers: their work on the database is done once and in the order of
 * the key, and a service that they call does each event once.
 */
@Tag("long")
@DisabledOnOs(value = OS.WINDOWS, disabledReason = "its processes know no signals")
class HandlerCrashRunIntegrationTests extends OrderCrashRunIntegrationTests {

	static final String TOPIC = "handlers";

	private static final List<String> WORK = List.of("crash_booking", "crash_confirmation", "crash_count");

	@Override
	String run() {
		return "handler";
	}

	@Override
	Class<?> application() {
		return HandlerApplication.class;
	}

	@Override
	String topic(EventBroker broker) {
		return TOPIC;
	}

	/**
	 * No constraint keeps an event from having two rows.
	 */
	@Override
	void createTables(JdbcClient database) {
		WORK.forEach((table) -> database
			.sql("create table " + table + " (id bigint generated always as identity, event_id varchar(40) not null, "
					+ "event_key varchar(20) not null, number integer not null)")
			.update());
	}

	@Override
	Map<String, List<String>> violations(JdbcClient database, Map<String, Recorded> recorded,
			List<PublishedEvent> published) {
		Map<String, List<String>> violations = new TreeMap<>();
		for (String table : WORK) {
			List<PublishedEvent> work = database
				.sql("select event_id, event_key, number from " + table + " order by id")
				.query((row, number) -> new PublishedEvent(
						Map.of("ce_subject", row.getString(2), Writers.NUMBER, row.getString(3)), row.getString(1),
						Instant.EPOCH))
				.list();
			OrderAudit.violations(recorded, work).forEach((kind, found) -> violations.put(table + ": " + kind, found));
			addRepeated(violations, table, work);
		}
		addRepeated(violations, "effect", published);
		System.out.printf("Handled %d events twice one by one, in %d batches, and once by %s calls%n", recorded.size(),
				database.sql("select count(distinct xmin::text) from crash_count").query(Long.class).single(),
				new StringRedisTemplate(redis.connect()).opsForValue().get(CrashedHandlers.CALLS));
		return violations;
	}

	private static void addRepeated(Map<String, List<String>> violations, String kind, List<PublishedEvent> work) {
		Set<String> seen = new HashSet<>();
		List<String> repeated = work.stream().filter((each) -> !seen.add(each.id())).map(Object::toString).toList();
		if (!repeated.isEmpty()) {
			violations.put(kind + ": repeated", repeated);
		}
	}

}
