package dev.idempotent.idempotency.engine;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.stream.Collectors;

import dev.idempotent.encryption.AesGcmPayloadCipher;
import dev.idempotent.encryption.PayloadCipher;
import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.StoredResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link ResponseEnvelope}.
 */
@ExtendWith(OutputCaptureExtension.class)
class ResponseEnvelopeTests {

	private static final String TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

	private static final StoredResponse RESPONSE = Samples.response("the secret response");

	private final ResponseEnvelope plain = new ResponseEnvelope(PayloadEncryption.NONE);

	private final ResponseEnvelope encrypted = encrypting(false, "k1", "k1");

	private final ClaimRequest request = request(Samples.key());

	@Test
	void keepsTheResponseAndItsOrigin() {
		for (ResponseEnvelope envelope : new ResponseEnvelope[] { this.plain, this.encrypted }) {
			StoredResponse stored = envelope.encrypt(this.request, RESPONSE);
			assertThat(envelope.decrypt(this.request.key(), stored)).isEqualTo(RESPONSE);
			assertThat(ResponseEnvelope.origin(this.request.key(), stored))
				.hasToString(this.request.origin().toString().replaceFirst("(\\.\\d{3})\\d*Z", "$1Z"));
		}
	}

	@Test
	void keepsTheOriginOfAResponseThatIsNotKept() {
		for (ResponseEnvelope envelope : new ResponseEnvelope[] { this.plain, this.encrypted }) {
			StoredResponse stored = envelope.encrypt(this.request, StoredResponse.notKept());
			assertThat(envelope.decrypt(this.request.key(), stored).isKept()).isFalse();
			assertThat(ResponseEnvelope.origin(this.request.key(), stored)).isNotNull();
		}
	}

	@Test
	void keepsTheEpochInFrontOfADatabase() {
		for (ResponseEnvelope envelope : new ResponseEnvelope[] { this.plain, this.encrypted }) {
			StoredResponse inDatabase = envelope.encrypt(this.request, RESPONSE);
			StoredResponse inFront = ResponseEnvelope.withEpoch(inDatabase, "epoch");
			assertThat(ResponseEnvelope.epoch(this.request.key(), inFront)).isEqualTo("epoch");
			assertThat(ResponseEnvelope.origin(this.request.key(), inFront))
				.isEqualTo(ResponseEnvelope.origin(this.request.key(), inDatabase));
			assertThat(envelope.decrypt(this.request.key(), inFront)).isEqualTo(RESPONSE);
			StoredResponse withoutEpoch = ResponseEnvelope.withEpoch(inDatabase, null);
			assertThat(ResponseEnvelope.epoch(this.request.key(), withoutEpoch)).isNull();
		}
	}

	@Test
	void readsAResponseThatIsNotKept() {
		for (ResponseEnvelope envelope : new ResponseEnvelope[] { this.plain, this.encrypted }) {
			StoredResponse stored = envelope.decrypt(this.request.key(), StoredResponse.notKept());
			assertThat(stored.isKept()).isFalse();
		}
		assertThat(ResponseEnvelope.origin(this.request.key(), StoredResponse.notKept())).isNull();
		assertThat(ResponseEnvelope.epoch(this.request.key(), StoredResponse.notKept())).isNull();
	}

	@Test
	void rejectsBytesOfAnotherProgram() {
		for (ResponseEnvelope envelope : new ResponseEnvelope[] { this.plain, this.encrypted }) {
			assertThatExceptionOfType(IdempotencyStoreException.class)
				.isThrownBy(() -> envelope.decrypt(this.request.key(), RESPONSE))
				.isNotInstanceOf(IdempotencyStoreUnavailableException.class);
		}
	}

	@Test
	void hidesTheResponse() {
		assertThat(text(this.plain.encrypt(this.request, RESPONSE))).contains("secret");
		assertThat(text(this.encrypted.encrypt(this.request, RESPONSE))).doesNotContain("secret");
	}

	@Test
	void rejectsTheResponseOfAnotherKey() {
		StoredResponse stored = this.encrypted.encrypt(this.request, RESPONSE);
		assertThatExceptionOfType(IdempotencyStoreException.class)
			.isThrownBy(() -> this.encrypted.decrypt(Samples.key(), stored))
			.isNotInstanceOf(IdempotencyStoreUnavailableException.class);
	}

	@Test
	void rejectsEveryChangedByte() {
		byte[] stored = this.encrypted.encrypt(this.request, RESPONSE).bytes();
		for (int i = 0; i < stored.length; i++) {
			byte[] changed = stored.clone();
			changed[i] ^= 1;
			assertThatExceptionOfType(IdempotencyStoreException.class).as("byte %d", i)
				.isThrownBy(() -> this.encrypted.decrypt(this.request.key(), StoredResponse.of(changed)));
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void rejectsEveryTruncation(boolean encrypting) {
		ResponseEnvelope envelope = encrypting ? this.encrypted : this.plain;
		byte[] stored = envelope.encrypt(this.request, RESPONSE).bytes();
		int complete = encrypting ? stored.length : stored.length - RESPONSE.size();
		for (int length = 1; length < complete; length++) {
			StoredResponse truncated = StoredResponse.of(Arrays.copyOf(stored, length));
			assertThatExceptionOfType(IdempotencyStoreException.class).as("%d bytes", length)
				.isThrownBy(() -> envelope.decrypt(this.request.key(), truncated));
		}
	}

	@Test
	void rejectsPlaintextUnlessItIsAccepted() {
		StoredResponse stored = this.plain.encrypt(this.request, RESPONSE);
		assertThatExceptionOfType(IdempotencyStoreException.class)
			.isThrownBy(() -> this.encrypted.decrypt(this.request.key(), stored))
			.withMessageContaining("idempotent.encryption.read-plaintext");
		assertThat(encrypting(true, "k1", "k1").decrypt(this.request.key(), stored)).isEqualTo(RESPONSE);
	}

	@Test
	void readsResponsesOfAnEarlierKey() {
		StoredResponse stored = this.encrypted.encrypt(this.request, RESPONSE);
		ResponseEnvelope rotated = encrypting(false, "k2", "k1", "k2");
		assertThat(rotated.decrypt(this.request.key(), stored)).isEqualTo(RESPONSE);
	}

	@Test
	void isUnavailableWithoutTheKey() {
		StoredResponse stored = this.encrypted.encrypt(this.request, RESPONSE);
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> encrypting(false, "k2", "k2").decrypt(this.request.key(), stored));
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> this.plain.decrypt(this.request.key(), stored))
			.withMessageContaining("idempotent.encryption.keys");
	}

	@Test
	void isUnavailableWhileACipherFails(CapturedOutput output) {
		StoredResponse stored = this.encrypted.encrypt(this.request, RESPONSE);
		ResponseEnvelope failing = new ResponseEnvelope(new PayloadEncryption(new FailingCipher(), false));
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> failing.decrypt(this.request.key(), stored))
			.withCauseInstanceOf(IllegalStateException.class);
		// The message of a cipher could contain data.
		assertThat(output.getAll().lines()).filteredOn((line) -> line.contains("ERROR"))
			.singleElement()
			.asString()
			.endsWith("the cipher has failed with java.lang.IllegalStateException");
		assertThat(output).doesNotContain("key management");
	}

	private static ResponseEnvelope encrypting(boolean readPlaintext, String active, String... ids) {
		PayloadCipher cipher = new AesGcmPayloadCipher(
				Arrays.stream(ids).collect(Collectors.toMap((id) -> id, ResponseEnvelopeTests::key)), active);
		return new ResponseEnvelope(new PayloadEncryption(cipher, readPlaintext));
	}

	private static byte[] key(String id) {
		return Arrays.copyOf(id.getBytes(StandardCharsets.US_ASCII), AesGcmPayloadCipher.KEY_BYTES);
	}

	private static ClaimRequest request(IdempotencyKey key) {
		return ClaimRequest.of(key, Samples.fingerprint("request"), Guarantee.TRANSACTION, TRACEPARENT,
				Duration.ofMinutes(1), Duration.ofMinutes(1), Samples.run(), null);
	}

	private static String text(StoredResponse stored) {
		return new String(stored.bytes(), StandardCharsets.ISO_8859_1);
	}

	private static final class FailingCipher implements PayloadCipher {

		@Override
		public byte[] encrypt(byte[] plain, byte[] context) {
			throw new IllegalStateException("The key management service did not respond");
		}

		@Override
		public byte[] decrypt(byte[] encrypted, byte[] context) {
			throw new IllegalStateException("The key management service did not respond");
		}

	}

}
