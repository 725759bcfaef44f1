package dev.idempotent.outbox.jdbc;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;

import dev.idempotent.encryption.AesGcmPayloadCipher;
import dev.idempotent.encryption.PayloadCipher;
import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.outbox.DeadEvents.DeadFilter;
import dev.idempotent.outbox.EventFacts;
import dev.idempotent.outbox.OutboxRow.Place;
import dev.idempotent.outbox.OutboxSamples;
import dev.idempotent.outbox.OutboxStore.ClaimScope;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxStoreSteps;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

/**
 * What is promised about payloads that are encrypted in the tables.
 */
abstract class OutboxEncryptionContract extends OutboxStoreSteps {

	private static final PayloadEncryption ENCRYPTED = encryption("k1");

	private static final String SECRET = "iban DE02120300000000202051";

	private @Nullable StoreOnTables encrypted;

	abstract StoreOnTables tables();

	@Override
	protected final StoreOnTables tested() {
		if (this.encrypted == null) {
			this.encrypted = tables().with(ENCRYPTED);
		}
		return this.encrypted;
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 1000, 500_000 })
	void deliversWhatWasAppended(int bytes) {
		byte[] payload = new byte[bytes];
		Arrays.fill(payload, (byte) '"');
		SerializedEvent event = event("one", payload, Map.of("note", "Grüße \ud83d\ude80 'n\\", "content-type", "a/b"));
		inTransaction(() -> store().append(List.of(event), null));
		assertThat(EventFacts.ofHeld(claim())).containsExactly(EventFacts.of(event, 1));
		assertThat(storedPayload(Place.EVENT)).hasSize(bytes + 32);
	}

	@Test
	void deliversAnEventWithoutKey() {
		SerializedEvent event = OutboxSamples.event(this.publisher + ":orders", null, "one", new byte[] { 1 },
				Map.of("content-type", "a/b"));
		inTransaction(() -> store().append(List.of(event), null));
		assertThat(EventFacts.ofHeld(claim())).containsExactly(EventFacts.of(event, 1));
	}

	@Test
	void showsNothingOfThePayloadInTheTable() {
		appendSecret();
		assertThat(new String(storedPayload(Place.EVENT), StandardCharsets.ISO_8859_1)).doesNotContain("iban", "DE02");
		assertThat(rows(Place.EVENT).get(0).event().storedHeaders()).containsEntry("ce_encrypted", "1");
	}

	@Test
	void handsOverEventsWithoutDecryptingThem() {
		PayloadCipher neverDecrypts = new PayloadCipher() {

			@Override
			public byte[] encrypt(byte[] plain, byte[] context) {
				return new byte[] { 7 };
			}

			@Override
			public byte[] decrypt(byte[] encrypted, byte[] context) {
				throw new IllegalStateException("decrypted");
			}

		};
		this.encrypted = tables().with(new PayloadEncryption(neverDecrypts, false));
		SerializedEvent event = event("one");
		List<SerializedEvent> appended = inTransaction(() -> store().append(List.of(event), lease()));
		assertThat(appended.get(0).payload()).isSameAs(event.payload());
		assertThat(appended.get(0).storedHeaders()).isSameAs(event.storedHeaders());
		assertThat(appended.get(0).sequence()).isPositive();
		assertThat(storedPayload(Place.EVENT)).containsExactly(7);
	}

	@Test
	void keepsTheEncryptedPayloadThroughFailureDeathAndRetry() {
		SerializedEvent event = appendSecret();
		byte[] stored = storedPayload(Place.EVENT);
		postpone(claim(), Duration.ZERO);
		assertThat(storedPayload(Place.WAITING)).isEqualTo(stored);
		deadLetter(claimWaiting());
		assertThat(storedPayload(Place.DEAD)).isEqualTo(stored);
		new JdbcDeadEvents(tested().dataSource(), tested().tables())
			.retry(new DeadFilter(null, null, this.publisher + ":orders"));
		assertThat(EventFacts.ofHeld(claimWaiting())).containsExactly(EventFacts.of(event, 1));
	}

	@ParameterizedTest
	@ValueSource(strings = { "type = 'order.refunded'", "event_key = 'mallory'", "event_key = null",
			"content_type = 'text/html'", "topic = concat(topic, '2')", "headers = '{\"ce_encrypted\": \"1\"}'",
			"headers = '{\"ce_encrypted\": \"1\", \"trace\": \"of mallory\"}'" })
	void rejectsAnEventWithAChangedColumn(String change) {
		appendSecret();
		append("other");
		tested().template()
			.update("update " + tested().tables().event() + " set " + change
					+ " where topic like ? and type = 'secret'", this.publisher + ":%");
		List<LeasedEvent> claimed = claim();
		assertThat(claimed).hasSize(2);
		assertThat(claimed.get(0).undeliverable()).isEqualTo(new Outcome.Reject("The payload cannot be decrypted: "
				+ "It was changed, belongs to another record, or was encrypted with another key of the id k1"));
		assertThat(claimed.get(1).undeliverable()).isNull();
		assertThat(claimed.get(1).event().payload()).asString().isEqualTo("other");
	}

	@Test
	void rejectsThePayloadOfAnotherEvent() {
		List<SerializedEvent> rows = append("one", "two");
		byte[] other = tested().template()
			.queryForObject("select payload from " + tested().tables().event() + " where id = ?", byte[].class,
					rows.get(1).sequence());
		tested().template()
			.update("update " + tested().tables().event() + " set payload = ? where id = ?", other,
					rows.get(0).sequence());
		assertThat(claim()).extracting((event) -> event.undeliverable() != null).containsExactly(true, false);
	}

	@Test
	void rejectsAPayloadInTheRowOfANewId() {
		appendSecret();
		tested().template()
			.update("update " + tested().tables().event() + " set event_id = ? where topic = ?",
					tested().database().parameter(UUID.randomUUID()), this.publisher + ":orders");
		assertThat(claim().get(0).undeliverable()).isInstanceOf(Outcome.Reject.class);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "\1", "plain" })
	void rejectsADamagedPayload(String damaged) {
		appendSecret();
		tested().template()
			.update("update " + tested().tables().event() + " set payload = ? where topic = ?",
					damaged.getBytes(StandardCharsets.US_ASCII), this.publisher + ":orders");
		assertThat(claim().get(0).undeliverable()).isEqualTo(new Outcome.Reject(
				"The payload cannot be decrypted: It is damaged, or not in the format of this cipher"));
	}

	@Test
	void retriesAnEventWhoseKeyIsMissingUntilItIsThere() {
		SerializedEvent event = appendSecret();
		this.encrypted = tables().with(encryption("k2"));
		List<LeasedEvent> claimed = claim();
		assertThat(claimed.get(0).undeliverable()).isEqualTo(new Outcome.Retry(
				"The payload cannot be decrypted: It is encrypted with the key k1, which is not configured", null));
		postpone(claimed, Duration.ZERO);
		this.encrypted = tables().with(encryption("k2", "k1"));
		assertThat(EventFacts.ofHeld(claimWaiting())).containsExactly(EventFacts.of(event, 2));
	}

	@Test
	void retriesAnEncryptedEventWithoutAnyKey() {
		appendSecret();
		this.encrypted = tables().with(PayloadEncryption.NONE);
		LeasedEvent claimed = claim().get(0);
		assertThat(claimed.undeliverable()).asInstanceOf(type(Outcome.Retry.class))
			.extracting(Outcome.Retry::reason)
			.isEqualTo("The payload cannot be decrypted: idempotent.encryption.keys has no keys, and there is no bean "
					+ "of type PayloadCipher");
	}

	@Test
	void retriesAnEventWhoseCipherFails() {
		appendSecret();
		this.encrypted = tables().with(new PayloadEncryption(failing(), false));
		assertThat(claim().get(0).undeliverable()).isEqualTo(new Outcome.Retry(
				"The payload cannot be decrypted: the cipher failed with java.lang.IllegalStateException", null));
	}

	@ParameterizedTest
	@CsvSource({ "false, true", "true, false" })
	void rejectsPlainPayloadsUnlessTheyAreRead(boolean readPlaintext, boolean rejected) {
		StoreOnTables plain = tables();
		inTransaction(() -> plain.store().append(List.of(event("one")), null));
		this.encrypted = plain.with(new PayloadEncryption(Objects.requireNonNull(ENCRYPTED.cipher()), readPlaintext));
		LeasedEvent claimed = claim().get(0);
		assertThat(claimed.undeliverable()).isEqualTo(rejected
				? new Outcome.Reject("The payload is not encrypted, and idempotent.encryption.read-plaintext is false")
				: null);
		assertThat(claimed.event().payload()).asString().isEqualTo("one");
	}

	@Test
	void ignoresAMarkThatTheApplicationSets() {
		this.encrypted = tables().with(PayloadEncryption.NONE);
		SerializedEvent event = event("one", new byte[] { 1 }, Map.of("ce_encrypted", "1", "content-type", "a/b"));
		inTransaction(() -> store().append(List.of(event), null));
		assertThat(claim().get(0).undeliverable()).isNull();
	}

	@Test
	void appendsNothingWithoutItsCipher() {
		this.encrypted = tables().with(new PayloadEncryption(failing(), false));
		assertThatIllegalStateException().isThrownBy(() -> append("one"));
		assertThat(rows(Place.EVENT)).isEmpty();
	}

	@Test
	void decryptsNoEventWhosePayloadIsNotRead() {
		appendSecret();
		LeasedEvent claimed = store()
			.claim(lease(), new ClaimScope(false, 0, Set.of(this.publisher), Set.of(), null, 10, Long.MAX_VALUE, 0))
			.get(0);
		assertThat(claimed.undeliverable()).isNull();
		assertThat(claimed.event().payload()).isEmpty();
	}

	@Test
	void countsTheBytesThatTheClaimHasCounted() {
		append("one", "two", "six");
		List<LeasedEvent> claimed = store().claim(lease(),
				new ClaimScope(false, 0, Set.of(this.publisher), Set.of(), null, 10, 70, 10));
		assertThat(claimed).hasSize(2).extracting(LeasedEvent::storedBytes).containsExactly(35L, 35L);
	}

	private SerializedEvent appendSecret() {
		SerializedEvent event = event("secret", SECRET.getBytes(StandardCharsets.UTF_8),
				Map.of("trace", "of alice", "content-type", "a/b"));
		inTransaction(() -> store().append(List.of(event), null));
		return event;
	}

	private byte[] storedPayload(Place place) {
		return rows(place).get(0).event().payload();
	}

	private static PayloadCipher failing() {
		return new PayloadCipher() {

			@Override
			public byte[] encrypt(byte[] plain, byte[] context) {
				throw new IllegalStateException("not reachable");
			}

			@Override
			public byte[] decrypt(byte[] encrypted, byte[] context) {
				throw new IllegalStateException("not reachable");
			}

		};
	}

	/**
	 * With keys that follow from their ids; the first one is active.
	 */
	private static PayloadEncryption encryption(String... ids) {
		Map<String, byte[]> keys = new HashMap<>();
		for (String id : ids) {
			keys.put(id, Arrays.copyOf(id.getBytes(StandardCharsets.US_ASCII), AesGcmPayloadCipher.KEY_BYTES));
		}
		return new PayloadEncryption(new AesGcmPayloadCipher(keys, ids[0]), false);
	}

}
