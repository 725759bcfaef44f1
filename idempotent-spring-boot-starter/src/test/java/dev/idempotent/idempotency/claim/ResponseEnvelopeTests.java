package dev.idempotent.idempotency.claim;

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
			StoredResponse closed = envelope.close(this.request, RESPONSE);
			ResponseEnvelope.Content opened = envelope.open(this.request.key(), closed);
			assertThat(opened.response()).isEqualTo(RESPONSE);
			assertThat(opened.origin())
				.hasToString(this.request.origin().toString().replaceFirst("(\\.\\d{3})\\d*Z", "$1Z"));
		}
	}

	@Test
	void keepsTheOriginOfAResponseThatIsNotKept() {
		for (ResponseEnvelope envelope : new ResponseEnvelope[] { this.plain, this.encrypted }) {
			ResponseEnvelope.Content opened = envelope.open(this.request.key(),
					envelope.close(this.request, StoredResponse.notKept()));
			assertThat(opened.response().isKept()).isFalse();
			assertThat(opened.origin()).isNotNull();
		}
	}

	@Test
	void keepsTheEpochInFrontOfADatabase() {
		for (ResponseEnvelope envelope : new ResponseEnvelope[] { this.plain, this.encrypted }) {
			StoredResponse inDatabase = envelope.close(this.request, RESPONSE);
			StoredResponse inFront = ResponseEnvelope.committed(inDatabase, "epoch");
			assertThat(ResponseEnvelope.commit(this.request.key(), inFront).epoch()).isEqualTo("epoch");
			assertThat(envelope.open(this.request.key(), inFront).response()).isEqualTo(RESPONSE);
			assertThat(ResponseEnvelope.commit(this.request.key(), ResponseEnvelope.committed(inDatabase, null)))
				.isEqualTo(new ResponseEnvelope.Commit(null, this.request.origin().guarantee()));
		}
		assertThat(ResponseEnvelope.commit(this.request.key(), StoredResponse.notKept()))
			.isEqualTo(new ResponseEnvelope.Commit(null, null));
	}

	@Test
	void opensAResponseWithoutAnOrigin() {
		assertThat(this.plain.open(this.request.key(), RESPONSE))
			.isEqualTo(new ResponseEnvelope.Content(RESPONSE, null));
		assertThat(this.encrypted.open(this.request.key(), StoredResponse.notKept()).response().isKept()).isFalse();
	}

	@Test
	void hidesTheResponse() {
		assertThat(text(this.plain.close(this.request, RESPONSE))).contains("secret");
		assertThat(text(this.encrypted.close(this.request, RESPONSE))).doesNotContain("secret");
	}

	@Test
	void rejectsTheResponseOfAnotherKey() {
		StoredResponse closed = this.encrypted.close(this.request, RESPONSE);
		assertThatExceptionOfType(IdempotencyStoreException.class)
			.isThrownBy(() -> this.encrypted.open(Samples.key(), closed))
			.isNotInstanceOf(IdempotencyStoreUnavailableException.class);
	}

	@Test
	void rejectsEveryChangedByte() {
		byte[] closed = this.encrypted.close(this.request, RESPONSE).bytes();
		for (int i = 0; i < closed.length; i++) {
			byte[] changed = closed.clone();
			changed[i] ^= 1;
			assertThatExceptionOfType(IdempotencyStoreException.class).as("byte %d", i)
				.isThrownBy(() -> this.encrypted.open(this.request.key(), StoredResponse.of(changed)));
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void rejectsEveryTruncation(boolean encrypting) {
		ResponseEnvelope envelope = encrypting ? this.encrypted : this.plain;
		byte[] closed = envelope.close(this.request, RESPONSE).bytes();
		int complete = encrypting ? closed.length : closed.length - RESPONSE.size();
		for (int length = 1; length < complete; length++) {
			StoredResponse truncated = StoredResponse.of(Arrays.copyOf(closed, length));
			assertThatExceptionOfType(IdempotencyStoreException.class).as("%d bytes", length)
				.isThrownBy(() -> envelope.open(this.request.key(), truncated));
		}
	}

	@Test
	void rejectsPlaintextUnlessItIsAccepted() {
		for (StoredResponse stored : new StoredResponse[] { RESPONSE, this.plain.close(this.request, RESPONSE) }) {
			assertThatExceptionOfType(IdempotencyStoreException.class)
				.isThrownBy(() -> this.encrypted.open(this.request.key(), stored))
				.withMessageContaining("idempotent.encryption.read-plaintext");
			assertThat(encrypting(true, "k1", "k1").open(this.request.key(), stored).response()).isEqualTo(RESPONSE);
		}
	}

	@Test
	void readsResponsesOfAnEarlierKey() {
		StoredResponse closed = this.encrypted.close(this.request, RESPONSE);
		ResponseEnvelope rotated = encrypting(false, "k2", "k1", "k2");
		assertThat(rotated.open(this.request.key(), closed).response()).isEqualTo(RESPONSE);
	}

	@Test
	void isUnavailableWithoutTheKey() {
		StoredResponse closed = this.encrypted.close(this.request, RESPONSE);
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> encrypting(false, "k2", "k2").open(this.request.key(), closed));
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> this.plain.open(this.request.key(), closed))
			.withMessageContaining("idempotent.encryption.keys");
	}

	@Test
	void isUnavailableWhileACipherFails(CapturedOutput output) {
		StoredResponse closed = this.encrypted.close(this.request, RESPONSE);
		ResponseEnvelope failing = new ResponseEnvelope(new PayloadEncryption(new FailingCipher(), false));
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> failing.open(this.request.key(), closed))
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
				Duration.ofMinutes(1), Duration.ofMinutes(1));
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
