package dev.idempotent.outbox.relay;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;

import dev.idempotent.encryption.AesGcmPayloadCipher;
import dev.idempotent.outbox.DeadEvents;
import dev.idempotent.outbox.DeadEvents.DeadEvent;
import dev.idempotent.outbox.EventFilter;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.TestedDatabase;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Delivery of events whose payloads are encrypted in the tables.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("databases")
@ParameterizedClass(name = "{0}")
@MethodSource("dev.idempotent.outbox.TestedDatabase#postgresOrH2")
class EncryptedEventsIntegrationTests {

	private static final String FEW_ATTEMPTS = "idempotent.outbox.relay.attempts=2";

	/**
	 * Keeps an event alive and due however often an attempt fails.
	 */
	private static final String[] ANY_ATTEMPTS = { "idempotent.outbox.relay.attempts=1000000",
			"idempotent.outbox.relay.max-backoff=20ms" };

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Parameter
	@SuppressWarnings("NullAway.Init")
	TestedDatabase database;

	private final List<Shop> shops = new ArrayList<>();

	@AfterEach
	void close() {
		this.shops.get(0).forgetAll();
		this.shops.forEach(Shop::close);
	}

	@Test
	void deliversPlainPayloadsAtTheFirstAndAtLaterAttempts() {
		Shop shop = open(keys("k1"));
		shop.broker().answer((event) -> new Outcome.Retry("not now", null));
		shop.append("order.created");
		await().untilAsserted(() -> assertThat(shop.waiting()).isOne());
		shop.broker().answer((event) -> new Outcome.Delivered());
		shop.append("order.paid");
		await().untilAsserted(
				() -> assertThat(shop.broker().types()).containsExactlyInAnyOrder("order.created", "order.paid"));
		assertThat(shop.broker().published()).allSatisfy((event) -> {
			assertThat(event.payload()).asString().isEqualTo("\"payload of " + event.type() + '"');
			assertThat(event.headers()).doesNotContainKey("ce_encrypted").containsEntry("ce_source", "/shop");
		});
	}

	@Test
	void deadLettersAChangedEventAndDeliversTheOthers(CapturedOutput output) {
		Shop shop = open(keys("k1"), ANY_ATTEMPTS);
		shop.broker().answer((event) -> new Outcome.Retry("not now", null));
		shop.append("order.created", "order.paid", "order.sent");
		await().untilAsserted(() -> assertThat(shop.waiting()).isEqualTo(3));
		// No attempt that has read the event before it is changed may end after that.
		shop.relay().stop();
		shop.database().sql("update relay_event set event_key = 'mallory' where type = 'order.paid'").update();
		Shop next = open(keys("k1"), ANY_ATTEMPTS);
		await().untilAsserted(() -> assertThat(shop.pending()).isZero());
		assertThat(shop.broker().types()).isEmpty();
		assertThat(next.broker().types()).containsExactlyInAnyOrder("order.created", "order.sent");
		assertThat(dead(shop)).extracting(DeadEvent::lastError)
			.containsExactly("The payload cannot be decrypted: It was changed, belongs to another record, or was "
					+ "encrypted with another key of the id k1");
		await().untilAsserted(() -> assertThat(output).contains("1 event for test became dead"));
	}

	@Test
	void deliversAnEventAfterAWrongRotationIsCorrected(CapturedOutput output) {
		open(keys("k1"), "idempotent.outbox.relay.enabled=false").append("order.created");
		Shop wrong = open(keys("k2"), "idempotent.outbox.relay.enabled=true", FEW_ATTEMPTS);
		await().untilAsserted(() -> assertThat(wrong.dead()).containsExactly("order.created"));
		assertThat(wrong.broker().published()).isEmpty();
		assertThat(dead(wrong)).extracting(DeadEvent::lastError)
			.containsExactly(
					"The payload cannot be decrypted: It is encrypted with the key k1, which is not configured");
		assertThat(output)
			.contains("1 of 1 events for test cannot be delivered yet; the first one: The payload cannot be "
					+ "decrypted: It is encrypted with the key k1, which is not configured");
		wrong.relay().stop();
		Shop corrected = open(keys("k2", "k1"), "idempotent.outbox.relay.enabled=true");
		assertThat(corrected.bean(DeadEvents.class).retry(EventFilter.ALL)).isOne();
		await().untilAsserted(() -> assertThat(corrected.broker().types()).containsExactly("order.created"));
		assertThat(corrected.broker().published().get(0).payload()).asString()
			.isEqualTo("\"payload of order.created\"");
	}

	@Test
	void leavesAnEncryptedEventToAnInstanceWithTheKey() {
		Shop without = open(List.of(), ANY_ATTEMPTS);
		Shop with = open(keys("k1"), ANY_ATTEMPTS);
		with.broker().answer((event) -> new Outcome.Retry("not now", null));
		with.append("order.created");
		await().untilAsserted(() -> assertThat(with.waiting()).isOne());
		with.broker().answer((event) -> new Outcome.Delivered());
		await().untilAsserted(() -> assertThat(with.broker().types()).containsExactly("order.created"));
		assertThat(without.broker().published()).isEmpty();
	}

	@Test
	void deadLettersAPlainEventUntilPlainPayloadsAreRead() {
		Shop shop = open(keys("k1"));
		shop.leaveBehind("order.created", 1);
		await().untilAsserted(() -> assertThat(shop.dead()).containsExactly("order.created"));
		assertThat(dead(shop)).extracting(DeadEvent::lastError)
			.containsExactly("The payload is not encrypted, and idempotent.encryption.read-plaintext is false");
		shop.relay().stop();
		Shop migrating = open(keys("k1"), "idempotent.encryption.read-plaintext=true");
		migrating.bean(DeadEvents.class).retry(EventFilter.ALL);
		await().untilAsserted(() -> assertThat(migrating.broker().published()).hasSize(1));
		assertThat(migrating.broker().published().get(0).payload()).containsExactly(1);
	}

	@Test
	void deadLettersAnEventWithUnreadableHeaders() {
		Shop shop = open(List.of());
		shop.leaveBehind("order.created", 1);
		shop.database()
			.sql("insert into relay_event (event_id, topic, type, payload, headers) select "
					+ "'3f0c1d5e-0000-4000-8000-000000000001', topic, 'bad', payload, '[]' from relay_event")
			.update();
		shop.append("order.paid");
		await().untilAsserted(() -> assertThat(shop.dead()).containsExactly("bad"));
		await().untilAsserted(() -> assertThat(shop.broker().types()).contains("order.paid"));
		assertThat(dead(shop)).extracting(DeadEvent::lastError)
			.containsExactly("Its headers are not a JSON object of strings");
	}

	/**
	 * A claim ends at the stored size of a batch, which is more than the size of the
	 * payloads.
	 */
	@Test
	void deliversABacklogOfManyBatchesWithOnePass() {
		Shop writer = open(keys("k1"), "idempotent.outbox.relay.enabled=false");
		String[] types = new String[50];
		Arrays.setAll(types, (i) -> "order." + i);
		writer.append(types);
		Shop shop = keep(Shop.open(this.database.properties(postgres, "encryption"), Shop.SELDOM,
				with(keys("k1"), "idempotent.outbox.relay.enabled=true", "idempotent.outbox.relay.batch-memory=200B")));
		await().untilAsserted(() -> assertThat(shop.broker().published()).extracting(SerializedEvent::type)
			.containsExactlyInAnyOrder(types));
	}

	private Shop open(List<String> keys, String... more) {
		return keep(Shop.open(this.database.properties(postgres, "encryption"), Shop.OFTEN, with(keys, more)));
	}

	private Shop keep(Shop shop) {
		this.shops.add(shop);
		return shop;
	}

	private static String[] with(List<String> keys, String... more) {
		List<String> all = new ArrayList<>(keys);
		all.addAll(List.of(more));
		return all.toArray(String[]::new);
	}

	private static List<DeadEvent> dead(Shop shop) {
		return shop.bean(DeadEvents.class).list(EventFilter.ALL, 0, 10).events();
	}

	/**
	 * Keys that follow from their ids; the first one is active.
	 */
	private static List<String> keys(String... ids) {
		List<String> properties = new ArrayList<>(List.of("idempotent.encryption.active-key=" + ids[0]));
		for (String id : ids) {
			byte[] key = Arrays.copyOf(id.getBytes(StandardCharsets.US_ASCII), AesGcmPayloadCipher.KEY_BYTES);
			properties.add("idempotent.encryption.keys." + id + "=" + Base64.getEncoder().encodeToString(key));
		}
		return properties;
	}

}
