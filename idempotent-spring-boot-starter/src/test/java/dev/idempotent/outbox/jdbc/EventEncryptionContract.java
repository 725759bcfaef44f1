package dev.idempotent.outbox.jdbc;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.encryption.AesGcmPayloadCipher;
import dev.idempotent.encryption.PayloadCipher;
import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.outbox.DeadEvents.DeadFilter;
import dev.idempotent.outbox.EventFacts;
import dev.idempotent.outbox.OutboxSamples;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.jdbc.EventTable.ClaimedEvent;
import dev.idempotent.outbox.jdbc.EventTable.QueuedEvent;
import dev.idempotent.outbox.jdbc.EventTable.NewEvent;
import dev.idempotent.transaction.OwnTransactions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

/**
 * What is promised about payloads that are encrypted in the tables.
 */
abstract class EventEncryptionContract extends EventTableSteps {

	private static final PayloadEncryption ENCRYPTED = encryption("k1");

	private static final String SECRET = "iban DE02120300000000202051";

	private @Nullable Fixture encrypted;

	abstract Fixture plain();

	@Override
	final Fixture fixture() {
		if (this.encrypted == null) {
			this.encrypted = plain().with(ENCRYPTED);
		}
		return this.encrypted;
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 1000, 500_000 })
	void deliversWhatWasAppended(int bytes) {
		byte[] payload = new byte[bytes];
		Arrays.fill(payload, (byte) '"');
		SerializedEvent event = event("one", payload, Map.of("note", "Grüße \ud83d\ude80 'n\\", "content-type", "a/b"));
		append(new NewEvent(event, true, null));
		assertThat(facts(claim())).containsExactly(EventFacts.of(event, 1));
		assertThat(storedPayload(events())).hasSize(bytes + 32);
	}

	@Test
	void deliversAnEventWithoutKey() {
		SerializedEvent event = OutboxSamples.event(TOPIC, null, "one", new byte[] { 1 },
				Map.of("content-type", "a/b"));
		append(new NewEvent(event, true, null));
		assertThat(facts(claim())).containsExactly(EventFacts.of(event, 1));
	}

	@Test
	void showsNothingOfThePayloadInTheTable() {
		appendSecret();
		assertThat(new String(storedPayload(events()), StandardCharsets.ISO_8859_1)).doesNotContain("iban", "DE02");
		assertThat(template().queryForObject("select headers from " + events(), String.class))
			.contains("\"ce_encrypted\":\"1\"");
	}

	@Test
	void keepsTheEncryptedPayloadThroughFailureDeathAndRetry() {
		SerializedEvent event = appendSecret();
		byte[] stored = storedPayload(events());
		table().postpone(failures(claim(), "broken"));
		assertThat(storedPayload(events())).isEqualTo(stored);
		endLeases();
		table().moveToDead(failures(claim(), "broken"));
		assertThat(storedPayload(fixture().tables().dead())).isEqualTo(stored);
		new JdbcDeadEvents(new OwnTransactions(fixture().dataSource()), fixture().tables().prefix())
			.retry(DeadFilter.ALL);
		assertThat(facts(claim())).containsExactly(EventFacts.of(event, 1));
	}

	@Test
	void encryptsDelayedEvents() {
		append(delayed("late", LEASE));
		assertThat(storedPayload(fixture().tables().delayed())).hasSize("late".length() + 32);
		template().update("update " + fixture().tables().delayed() + " set due_at = created_at");
		table().moveDelayed(10);
		assertThat(claim().get(0).event().payload()).asString().isEqualTo("late");
	}

	@ParameterizedTest
	@ValueSource(strings = { "type = 'order.refunded'", "event_key = 'mallory'", "event_key = null",
			"content_type = 'text/html'", "topic = concat(topic, '2')", "headers = '{\"ce_encrypted\": \"1\"}'",
			"headers = '{\"ce_encrypted\": \"1\", \"trace\": \"of mallory\"}'" })
	void rejectsAnEventWithAChangedColumn(String change) {
		appendSecret();
		append("other");
		template().update("update " + events() + " set " + change + " where type = 'secret'");
		List<ClaimedEvent> claimed = claim();
		assertThat(claimed).hasSize(2);
		boolean otherFirst = asText(claimed.get(0)).equals("other");
		ClaimedEvent other = claimed.get(otherFirst ? 0 : 1);
		assertThat(claimed.get(otherFirst ? 1 : 0).undeliverable())
			.isEqualTo(new Outcome.Reject("The payload cannot be decrypted: "
					+ "It was changed, belongs to another record, or was encrypted with another key of the id k1"));
		assertThat(other.undeliverable()).isNull();
		assertThat(asText(other)).isEqualTo("other");
	}

	@Test
	void rejectsThePayloadOfAnotherEvent() {
		append("one", "two");
		byte[] other = template().queryForObject("select payload from " + events() + " where type = 'two'",
				byte[].class);
		template().update("update " + events() + " set payload = ? where type = 'one'", other);
		assertThat(claim()).filteredOn((claim) -> claim.undeliverable() == null)
			.extracting((claim) -> claim.event().type())
			.containsExactly("two");
	}

	@Test
	void rejectsAPayloadInTheRowOfANewId() {
		appendSecret();
		template().update("update " + events() + " set event_id = ? where topic = ?",
				fixture().database().parameter(UUID.randomUUID()), TOPIC);
		assertThat(claim().get(0).undeliverable()).isInstanceOf(Outcome.Reject.class);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "\1", "plain" })
	void rejectsADamagedPayload(String damaged) {
		appendSecret();
		template().update("update " + events() + " set payload = ? where topic = ?",
				damaged.getBytes(StandardCharsets.US_ASCII), TOPIC);
		assertThat(claim().get(0).undeliverable()).isEqualTo(new Outcome.Reject(
				"The payload cannot be decrypted: It is damaged, or not in the format of this cipher"));
	}

	@Test
	void retriesAnEventWhoseKeyIsMissingUntilItIsThere() {
		SerializedEvent event = appendSecret();
		this.encrypted = plain().with(encryption("k2"));
		List<ClaimedEvent> claimed = claim();
		assertThat(claimed.get(0).undeliverable()).isEqualTo(new Outcome.Retry(
				"The payload cannot be decrypted: It is encrypted with the key k1, which is not configured", null));
		table().postpone(failures(claimed, "broken"));
		endLeases();
		this.encrypted = plain().with(encryption("k2", "k1"));
		assertThat(facts(claim())).containsExactly(EventFacts.of(event, 2));
	}

	@Test
	void retriesAnEncryptedEventWithoutAnyKey() {
		appendSecret();
		this.encrypted = plain().with(PayloadEncryption.NONE);
		ClaimedEvent claimed = claim().get(0);
		assertThat(claimed.undeliverable()).asInstanceOf(type(Outcome.Retry.class))
			.extracting(Outcome.Retry::reason)
			.isEqualTo("The payload cannot be decrypted: idempotent.encryption.keys has no keys, and there is no bean "
					+ "of type PayloadCipher");
	}

	@Test
	void retriesAnEventWhoseCipherFails() {
		appendSecret();
		this.encrypted = plain().with(new PayloadEncryption(failing(), false));
		assertThat(claim().get(0).undeliverable()).isEqualTo(new Outcome.Retry(
				"The payload cannot be decrypted: the cipher failed with java.lang.NoClassDefFoundError", null));
	}

	/**
	 * A cipher may need a connection for its keys, and the pool may have one only.
	 */
	@Test
	void decryptsWithoutAConnection() {
		appendSecret();
		try (HikariDataSource pool = new HikariDataSource(oneConnection())) {
			PayloadCipher usual = Objects.requireNonNull(ENCRYPTED.cipher());
			PayloadCipher cipher = new PayloadCipher() {

				@Override
				public byte[] encrypt(byte[] plain, byte[] context) {
					return usual.encrypt(plain, context);
				}

				@Override
				public byte[] decrypt(byte[] encrypted, byte[] context) {
					new JdbcTemplate(pool).queryForList("select 1");
					return usual.decrypt(encrypted, context);
				}

			};
			EventTable table = plain().through(pool).with(new PayloadEncryption(cipher, false)).table();
			assertThat(table.claim(heads(), LEASE, 10)).extracting(ClaimedEvent::undeliverable)
				.containsExactly((Outcome) null);
		}
	}

	@ParameterizedTest
	@CsvSource({ "false, true", "true, false" })
	void rejectsPlainPayloadsUnlessTheyAreRead(boolean readPlaintext, boolean rejected) {
		Fixture plain = plain();
		inTransaction(() -> plain.table().append(List.of(unordered("one"))));
		this.encrypted = plain.with(new PayloadEncryption(Objects.requireNonNull(ENCRYPTED.cipher()), readPlaintext));
		ClaimedEvent claimed = claim().get(0);
		assertThat(claimed.undeliverable()).isEqualTo(rejected
				? new Outcome.Reject("The payload is not encrypted, and idempotent.encryption.read-plaintext is false")
				: null);
		assertThat(claimed.event().payload()).asString().isEqualTo("one");
	}

	@Test
	void ignoresAMarkThatTheApplicationSets() {
		this.encrypted = plain().with(PayloadEncryption.NONE);
		SerializedEvent event = event("one", new byte[] { 1 }, Map.of("ce_encrypted", "1", "content-type", "a/b"));
		append(new NewEvent(event, true, null));
		assertThat(claim().get(0).undeliverable()).isNull();
	}

	@Test
	void appendsNothingWithoutItsCipher() {
		this.encrypted = plain().with(new PayloadEncryption(failing(), false));
		assertThatIllegalStateException().isThrownBy(() -> append("one"));
		assertThat(typesIn(events())).isEmpty();
	}

	@Test
	void decryptsNoEventWhosePayloadIsNotRead() {
		appendSecret();
		ClaimedEvent claimed = table().claim(heads(), LEASE, 0).get(0);
		assertThat(claimed.undeliverable()).isNull();
		assertThat(claimed.event().payload()).isEmpty();
	}

	@Test
	void readsTheSizesOfEventsAsTheyAreStored() {
		append("one");
		String headers = template().queryForObject("select headers from " + events(), String.class);
		assertThat(heads()).extracting(QueuedEvent::bytes).containsExactly(35L + String.valueOf(headers).length());
	}

	private SerializedEvent appendSecret() {
		SerializedEvent event = event("secret", SECRET.getBytes(StandardCharsets.UTF_8),
				Map.of("trace", "of alice", "content-type", "a/b"));
		append(new NewEvent(event, true, null));
		return event;
	}

	private byte[] storedPayload(String table) {
		return Objects.requireNonNull(template().queryForObject("select payload from " + table, byte[].class));
	}

	private static SerializedEvent event(String type, byte[] payload, Map<String, String> headers) {
		return OutboxSamples.event(TOPIC, "key of " + type, type, payload, headers);
	}

	private static List<EventFacts> facts(List<ClaimedEvent> claims) {
		return claims.stream().map((claim) -> EventFacts.of(claim.event())).toList();
	}

	private static String asText(ClaimedEvent claim) {
		return new String(claim.event().payload(), StandardCharsets.UTF_8);
	}

	private static PayloadCipher failing() {
		return new PayloadCipher() {

			@Override
			public byte[] encrypt(byte[] plain, byte[] context) {
				throw new IllegalStateException("not reachable");
			}

			@Override
			public byte[] decrypt(byte[] encrypted, byte[] context) {
				throw new NoClassDefFoundError("not reachable");
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
