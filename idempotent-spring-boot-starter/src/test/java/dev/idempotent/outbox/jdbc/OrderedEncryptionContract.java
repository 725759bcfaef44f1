package dev.idempotent.outbox.jdbc;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import dev.idempotent.encryption.AesGcmPayloadCipher;
import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.outbox.DeadEvents.DeadFilter;
import dev.idempotent.outbox.EventFacts;
import dev.idempotent.outbox.OrderedEvent;
import dev.idempotent.outbox.OrderedOutboxStore.KeyLimits;
import dev.idempotent.outbox.OrderedStoreSteps;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is promised about payloads of ordered events that are encrypted in the tables.
 */
abstract class OrderedEncryptionContract extends OrderedStoreSteps {

	private @Nullable OrderedOnTables encrypted;

	abstract OrderedOnTables tables();

	@Override
	protected final OrderedOnTables tested() {
		if (this.encrypted == null) {
			this.encrypted = OrderedOnTables.on(tables().tables(), encryption("k1"));
		}
		return this.encrypted;
	}

	@Test
	void deliversWhatWasAppended() {
		OrderedEvent event = event("a1", "iban DE02".getBytes(StandardCharsets.UTF_8));
		List<SerializedEvent> rows = inTransaction(() -> store().append(List.of(event)));
		assertThat(rows.get(0).payload()).isSameAs(event.event().payload());
		assertThat(new String(row("a1").event().payload(), StandardCharsets.ISO_8859_1)).doesNotContain("iban");
		LeasedEvent held = claim("a").get(0);
		assertThat(EventFacts.of(held.event())).isEqualTo(EventFacts.of(event.event(), 1));
		assertThat(held.storedBytes()).isEqualTo("iban DE02".length() + 32);
	}

	@Test
	void deliversADeadEventThatIsRetried() {
		SerializedEvent event = append("a1").get(0);
		deadLetter(claim("a"));
		new JdbcDeadEvents(tested().tables().dataSource(), tested().tables().tables())
			.retry(new DeadFilter(null, null, this.topic));
		assertThat(EventFacts.ofHeld(claim("a"))).containsExactly(EventFacts.of(event, 1));
	}

	@Test
	void claimsAnEventThatItCannotDecryptAsUndeliverable() {
		append("a1", "b1");
		tested().template()
			.update("update " + tested().table() + " set type = 'changed' where type = 'b1' and topic = ?", this.topic);
		assertThat(claim("b").get(0).undeliverable()).isInstanceOf(Outcome.Reject.class);
		this.encrypted = OrderedOnTables.on(tables().tables(), encryption("k2"));
		LeasedEvent held = claim("a").get(0);
		assertThat(held.undeliverable()).isInstanceOf(Outcome.Retry.class);
		assertThat(held.row()).isEqualTo(row("a1").row());
	}

	@Test
	void claimsAnEventWithUnreadableHeadersAsUndeliverable() {
		append("a1", "a2");
		tested().template()
			.update("update " + tested().table() + " set headers = '[1' where type = 'a1' and topic = ?", this.topic);
		assertThat(claim("a")).extracting(LeasedEvent::undeliverable)
			.containsExactly(new Outcome.Reject("Its headers are not a JSON object of strings"), null);
	}

	@Test
	void decryptsNoEventWhosePayloadIsNotRead() {
		append("a1");
		LeasedEvent held = claim(new KeyLimits(32, Long.MAX_VALUE, 2, 0), "a").get(0);
		assertThat(held.undeliverable()).isNull();
		assertThat(held.event().payload()).isEmpty();
	}

	/**
	 * With a key that follows from its id.
	 */
	private static PayloadEncryption encryption(String id) {
		Map<String, byte[]> keys = new HashMap<>();
		keys.put(id, Arrays.copyOf(id.getBytes(StandardCharsets.US_ASCII), AesGcmPayloadCipher.KEY_BYTES));
		return new PayloadEncryption(new AesGcmPayloadCipher(keys, id), false);
	}

}
