package dev.idempotent.outbox;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;

import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxRow.Place;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What every store promises about the contents and the number of events.
 */
public abstract class OutboxStoreContents extends OutboxStoreSteps {

	private static final String ODD = " \u00E4\u0416\u4E2D\u0627 \uD83D\uDE00 '\"\\%_?;--\t\r\n{}[]\u2028 ";

	@Test
	void keepsEveryByteOfAPayload() {
		byte[] megabyte = new byte[1024 * 1024];
		new Random(1).nextBytes(megabyte);
		keeps(event("big", megabyte, Map.of()));
	}

	@Test
	void keepsAnEmptyPayload() {
		keeps(event("empty", new byte[0], Map.of()));
	}

	@Test
	void keepsUnusualCharacters() {
		keeps(OutboxSamples.event(this.publisher + ":" + ODD, ODD, ODD, new byte[1], Map.of(ODD, ODD, "", "")));
	}

	@Test
	void keepsHeadersOfAnyLength() {
		keeps(event("nul", new byte[1], Map.of("nul", "\u0000", "long", "x".repeat(100_000))));
	}

	@Test
	void keepsAnEventWithoutAKey() {
		keeps(OutboxSamples.event(this.publisher + ":orders", null, "one", new byte[1], Map.of()));
	}

	@Test
	void keepsATypeThatIsNotAClass() {
		keeps(event("com.example.deleted.OrderCreated$V1", new byte[] { 1 }, Map.of()));
	}

	@Test
	void keepsTheContentType() {
		SerializedEvent json = event("one");
		Map<String, String> headers = new LinkedHashMap<>(json.storedHeaders());
		headers.put(SerializedEvent.CONTENT_TYPE, "application/x-protobuf; charset=binary");
		keeps(new SerializedEvent(json.id(), 0, json.topic(), json.key(), json.type(), json.payload(), headers, 0));
	}

	@Test
	void keepsTheOrderOfHeaders() {
		Map<String, String> headers = new LinkedHashMap<>();
		IntStream.range(0, 20).forEach((i) -> headers.put("header-" + (i * 7 % 20), "value " + i));
		SerializedEvent event = event("one", new byte[1], headers);
		inTransaction(() -> store().append(List.of(event), null));
		assertThat(new ArrayList<>(claim().get(0).event().storedHeaders().keySet()))
			.isEqualTo(new ArrayList<>(event.storedHeaders().keySet()));
	}

	@Test
	void keepsTheOrderOfMoreEventsThanFitIntoOneStatement() {
		String[] types = IntStream.range(0, 1200).mapToObj((i) -> "event " + i).toArray(String[]::new);
		List<SerializedEvent> rows = append(types);
		assertThat(rows).extracting(SerializedEvent::sequence).doesNotHaveDuplicates().isSorted();
		assertThat(rows).extracting(SerializedEvent::type).containsExactly(types);
		List<LeasedEvent> held = claimAbove(0, 5000);
		assertThat(types(held)).containsExactly(types);
		assertThat(held).extracting((each) -> each.event().sequence())
			.containsExactlyElementsOf(rows.stream().map(SerializedEvent::sequence).toList());
		assertThat(store().delivered(held)).isEqualTo(1200);
		assertThat(rows(Place.EVENT)).isEmpty();
	}

	/**
	 * With bytes that drivers of MySQL escape.
	 */
	@Test
	void keepsMoreBytesThanFitIntoOneStatement() {
		byte[] payload = new byte[40_000];
		Arrays.fill(payload, (byte) '\'');
		List<SerializedEvent> events = IntStream.range(0, 400)
			.mapToObj((i) -> event("event " + i, payload, Map.of()))
			.toList();
		List<SerializedEvent> rows = inTransaction(() -> store().append(events, null));
		assertThat(rows).extracting(SerializedEvent::sequence).doesNotHaveDuplicates().isSorted();
		List<LeasedEvent> held = claim();
		assertThat(held).hasSize(400).allSatisfy((each) -> assertThat(each.event().payload()).isEqualTo(payload));
		assertThat(held).extracting((each) -> each.event().id())
			.containsExactlyElementsOf(events.stream().map(SerializedEvent::id).toList());
		store().delivered(held);
	}

	/**
	 * Lets the event fail once and then die.
	 */
	private void keeps(SerializedEvent event) {
		SerializedEvent appended = inTransaction(() -> store().append(List.of(event), null)).get(0);
		assertThat(EventFacts.of(appended)).isEqualTo(EventFacts.of(event));
		List<LeasedEvent> claimed = claim();
		assertThat(EventFacts.ofHeld(claimed)).containsExactly(EventFacts.of(event, 1));
		postpone(claimed, Duration.ZERO);
		List<LeasedEvent> waiting = claimWaiting();
		assertThat(EventFacts.ofHeld(waiting)).containsExactly(EventFacts.of(event, 2));
		deadLetter(waiting);
		assertThat(rows(Place.DEAD)).extracting((row) -> EventFacts.of(row.event()))
			.containsExactly(EventFacts.of(event, 2));
	}

}
