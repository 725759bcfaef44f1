package dev.idempotent.encryption;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.stream.Stream;

import com.code_intelligence.jazzer.junit.FuzzTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the format of {@link AesGcmPayloadCipher} with data that Jazzer makes up.
 */
class AesGcmFormatFuzzTests {

	private static final byte[] CONTEXT = { 'c' };

	private static final AesGcmPayloadCipher cipher = new AesGcmPayloadCipher(
			Map.of("k", new byte[AesGcmPayloadCipher.KEY_BYTES]), "k");

	static Stream<byte[]> seeds() {
		return Stream
			.of("", "\1", "\1\1", "\1\1k", "\1\0", "\1\u00ffk", "\2\1k" + "x".repeat(28), "\1\1k" + "x".repeat(27),
					"\1\1k" + "x".repeat(28), "\1\1K" + "x".repeat(28), "\1\1m" + "x".repeat(28))
			.map((seed) -> seed.getBytes(StandardCharsets.ISO_8859_1));
	}

	@MethodSource("seeds")
	@FuzzTest(maxDuration = "10m")
	void anythingIsEncryptedAndNothingIsForged(byte[] data) {
		assertThat(cipher.decrypt(cipher.encrypt(data, CONTEXT), CONTEXT)).isEqualTo(data);
		assertThatExceptionOfType(PayloadCipherException.class).isThrownBy(() -> cipher.decrypt(data, CONTEXT))
			.satisfies((ex) -> assertThat(ex.getMessage()).matches("[ -~]+"));
	}

}
