package dev.idempotent.outbox.jdbc;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import dev.idempotent.encryption.PayloadCipher;
import dev.idempotent.encryption.PayloadCipherException;
import dev.idempotent.encryption.PayloadCipherException.Reason;
import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Encrypts the payloads of events as they are stored. A payload is bound to everything
 * that is delivered with it: the id, topic, key, type and headers of its event.
 */
final class EventEncryption {

	/**
	 * The stored header that marks an encrypted payload. Applications cannot set headers
	 * that begin with {@code ce_}.
	 */
	static final String MARK = "ce_encrypted";

	private static final Logger logger = LoggerFactory.getLogger(EventEncryption.class);

	private static final String CANNOT = "The payload cannot be decrypted: ";

	private final @Nullable PayloadCipher cipher;

	private final boolean readPlaintext;

	EventEncryption(PayloadEncryption encryption) {
		this.cipher = encryption.cipher();
		this.readPlaintext = encryption.readPlaintext();
	}

	/**
	 * Returns events as they are stored, in the same order.
	 */
	List<SerializedEvent> encrypt(List<SerializedEvent> events) {
		PayloadCipher used = this.cipher;
		if (used == null && events.stream().noneMatch(EventEncryption::isMarked)) {
			return events;
		}
		return events.stream().map((event) -> encrypt(event, used)).toList();
	}

	private static SerializedEvent encrypt(SerializedEvent event, @Nullable PayloadCipher cipher) {
		Map<String, String> headers = unmarked(event);
		if (cipher == null) {
			return with(event, event.payload(), headers);
		}
		byte[] encrypted = cipher.encrypt(event.payload(), context(event, headers));
		headers.put(MARK, "1");
		return with(event, encrypted, headers);
	}

	/**
	 * Returns an event as it is delivered, or with the reason why it cannot be.
	 */
	EventRow decrypt(EventRow row) {
		SerializedEvent event = row.event();
		if (row.unreadable() != null) {
			return row;
		}
		if (!isMarked(event)) {
			return this.readPlaintext ? row : new EventRow(event, new Outcome.Reject(
					"The payload is not encrypted, and idempotent.encryption.read-plaintext is false"));
		}
		Map<String, String> headers = unmarked(event);
		try {
			return new EventRow(with(event, decrypt(event.payload(), context(event, headers)), headers), null);
		}
		catch (PayloadCipherException ex) {
			String reason = CANNOT + ex.getMessage();
			return new EventRow(event, (ex.reason() == Reason.KEY_UNAVAILABLE) ? new Outcome.Retry(reason, null)
					: new Outcome.Reject(reason));
		}
		// An error of one event must not end the attempts of its batch.
		catch (RuntimeException | Error ex) {
			// Its message could contain data.
			logger.debug("A payload could not be decrypted", ex);
			return new EventRow(event,
					new Outcome.Retry(CANNOT + "the cipher failed with " + ex.getClass().getName(), null));
		}
	}

	private byte[] decrypt(byte[] encrypted, byte[] context) {
		if (this.cipher == null) {
			throw new PayloadCipherException(Reason.KEY_UNAVAILABLE,
					"idempotent.encryption.keys has no keys, and there is no bean of type PayloadCipher", null);
		}
		return this.cipher.decrypt(encrypted, context);
	}

	private static boolean isMarked(SerializedEvent event) {
		return event.storedHeaders().containsKey(MARK);
	}

	private static Map<String, String> unmarked(SerializedEvent event) {
		Map<String, String> headers = new LinkedHashMap<>(event.storedHeaders());
		headers.remove(MARK);
		return headers;
	}

	private static byte[] context(SerializedEvent event, Map<String, String> headers) {
		List<@Nullable String> values = new ArrayList<>();
		values.add(event.id().toString());
		values.add(event.topic());
		values.add(event.key());
		values.add(event.type());
		new TreeMap<>(headers).forEach((name, value) -> {
			values.add(name);
			values.add(value);
		});
		return PayloadEncryption.context("outbox-event", values.toArray(new String[0]));
	}

	private static SerializedEvent with(SerializedEvent event, byte[] payload, Map<String, String> headers) {
		return new SerializedEvent(event.id(), event.sequence(), event.topic(), event.key(), event.type(), payload,
				headers, event.attempts());
	}

}
