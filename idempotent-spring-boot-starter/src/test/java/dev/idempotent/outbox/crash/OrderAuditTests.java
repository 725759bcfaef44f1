package dev.idempotent.outbox.crash;

import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import dev.idempotent.outbox.crash.EventBroker.PublishedEvent;
import dev.idempotent.outbox.crash.OrderAudit.Recorded;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the audit of a crash run finds. An event is written as its key and its number
 * within the key.
 */
class OrderAuditTests {

	private static final String COMMITTED = "a1 a2 a3 b1 b2 c0";

	@ParameterizedTest
	@ValueSource(strings = { "a1 a2 a3 b1 b2 c0", "b1 a1 c0 b2 a2 a3", "a1 a2 a1 a2 a3 b1 b2 a1 c0 c0" })
	void acceptsFirstOccurrencesInOrder(String published) {
		assertThat(find(published)).isEmpty();
	}

	@ParameterizedTest
	@CsvSource({ "a1 a3 a2 b1 b2 c0, out of order", "a1 a2 a3 b2 b1 c0, out of order", "a1 a3 b1 b2 c0, lost",
			"a1 a2 a3 b1 b2, lost", "a1 a2 a3 a4 b1 b2 c0, of a rollback" })
	void findsDisorderLossAndRollbacks(String published, String violation) {
		assertThat(find(published)).containsOnlyKeys(violation);
	}

	@Test
	void findsARepetitionThatDiffers() {
		PublishedEvent event = event("a1");
		PublishedEvent other = new PublishedEvent(event.headers(), '"' + event.payload() + '"', event.published());
		assertThat(OrderAudit.violations(recorded("a1"), List.of(event, other))).containsOnlyKeys("altered");
	}

	private static Map<String, List<String>> find(String published) {
		return OrderAudit.violations(recorded(COMMITTED),
				Arrays.stream(published.split(" ")).map(OrderAuditTests::event).toList());
	}

	private static Map<String, Recorded> recorded(String events) {
		return Arrays.stream(events.split(" "))
			.collect(Collectors.toMap((event) -> event,
					(event) -> new Recorded(event.substring(0, 1), Integer.parseInt(event.substring(1)))));
	}

	private static PublishedEvent event(String name) {
		return new PublishedEvent(Map.of("ce_subject", name.substring(0, 1), Writers.NUMBER, name.substring(1)), name,
				Instant.EPOCH);
	}

}
