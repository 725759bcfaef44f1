package dev.idempotent.encryption;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.idempotent.encryption.PayloadCipherException.Reason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link AesGcmPayloadCipher}.
 */
class AesGcmPayloadCipherTests {

	private static final byte[] CONTEXT = PayloadEncryption.context("test", "record-1");

	private static final byte[] OTHER_CONTEXT = PayloadEncryption.context("test", "record-2");

	/**
	 * Version, length of the id, the id {@code k1}.
	 */
	private static final int HEADER = 4;

	private final AesGcmPayloadCipher cipher = cipher("k1", "k1", 1);

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 15, 16, 17, 500_000 })
	void decryptsWhatItHasEncrypted(int length) {
		byte[] plain = filled(length, 'p');
		byte[] encrypted = this.cipher.encrypt(plain, CONTEXT);
		assertThat(encrypted).hasSize(HEADER + 12 + length + 16).startsWith(1, 2, 'k', '1');
		assertThat(this.cipher.decrypt(encrypted, CONTEXT)).isEqualTo(plain);
	}

	@Test
	void neverUsesAnIvTwice() {
		Set<String> ivs = new HashSet<>();
		for (int i = 0; i < 10_000; i++) {
			byte[] encrypted = this.cipher.encrypt(new byte[0], CONTEXT);
			ivs.add(Arrays.toString(Arrays.copyOfRange(encrypted, HEADER, HEADER + 12)));
		}
		assertThat(ivs).hasSize(10_000);
	}

	@Test
	void showsNothingOfTheData() {
		byte[] encrypted = this.cipher.encrypt("iban DE02120300000000202051".getBytes(StandardCharsets.UTF_8), CONTEXT);
		assertThat(new String(encrypted, StandardCharsets.ISO_8859_1)).doesNotContain("iban", "DE02", "2051");
	}

	@Test
	void refusesTheDataOfAnotherRecord() {
		byte[] encrypted = this.cipher.encrypt(filled(40, 'p'), OTHER_CONTEXT);
		assertNotAuthentic(this.cipher, encrypted);
	}

	@Test
	void refusesAnyChangedBit() {
		byte[] encrypted = this.cipher.encrypt(filled(40, 'p'), CONTEXT);
		for (int i = 0; i < encrypted.length * Byte.SIZE; i++) {
			byte[] changed = encrypted.clone();
			changed[i / Byte.SIZE] ^= (byte) (1 << (i % Byte.SIZE));
			assertThatExceptionOfType(PayloadCipherException.class)
				.isThrownBy(() -> this.cipher.decrypt(changed, CONTEXT));
		}
	}

	@Test
	void refusesTruncatedAndExtendedData() {
		byte[] encrypted = this.cipher.encrypt(filled(40, 'p'), CONTEXT);
		for (int length = 0; length < encrypted.length; length++) {
			assertNotAuthentic(this.cipher, Arrays.copyOf(encrypted, length));
		}
		assertNotAuthentic(this.cipher, Arrays.copyOf(encrypted, encrypted.length + 1));
	}

	@Test
	void refusesDataWhoseContextIsMovedIntoItsHeader() {
		byte[] encrypted = this.cipher.encrypt(filled(40, 'p'), "-x".getBytes(StandardCharsets.US_ASCII));
		byte[] forged = new byte[encrypted.length + 2];
		System.arraycopy(encrypted, 0, forged, 0, HEADER);
		System.arraycopy(encrypted, HEADER, forged, HEADER + 2, encrypted.length - HEADER);
		forged[1] = 4;
		forged[4] = '-';
		forged[5] = 'x';
		AesGcmPayloadCipher sameKey = cipher("k1-x", "k1-x", 1);
		assertThatExceptionOfType(PayloadCipherException.class).isThrownBy(() -> sameKey.decrypt(forged, new byte[0]))
			.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(Reason.NOT_AUTHENTIC));
	}

	@Test
	void decryptsWithAnOldKeyAfterARotation() {
		byte[] plain = filled(40, 'p');
		byte[] encrypted = this.cipher.encrypt(plain, CONTEXT);
		AesGcmPayloadCipher rotated = new AesGcmPayloadCipher(Map.of("k1", key(1), "k2", key(2)), "k2");
		assertThat(rotated.decrypt(encrypted, CONTEXT)).isEqualTo(plain);
		assertThat(rotated.encrypt(plain, CONTEXT)).startsWith(1, 2, 'k', '2');
	}

	@Test
	void namesTheKeyThatIsMissing() {
		byte[] encrypted = this.cipher.encrypt(filled(40, 'p'), CONTEXT);
		assertThatExceptionOfType(PayloadCipherException.class)
			.isThrownBy(() -> cipher("k2", "k2", 2).decrypt(encrypted, CONTEXT))
			.withMessage("It is encrypted with the key k1, which is not configured")
			.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(Reason.KEY_UNAVAILABLE));
	}

	@Test
	void refusesTheDataOfAnotherKeyOfTheSameId() {
		assertNotAuthentic(cipher("k1", "k1", 2), this.cipher.encrypt(filled(40, 'p'), CONTEXT));
	}

	@Test
	void refusesAKeyIdThatIsExchangedForAnother() {
		AesGcmPayloadCipher both = new AesGcmPayloadCipher(Map.of("k1", key(1), "k2", key(1)), "k1");
		byte[] encrypted = both.encrypt(filled(40, 'p'), CONTEXT);
		encrypted[3] = '2';
		assertNotAuthentic(both, encrypted);
	}

	@Test
	void repeatsNoTextThatIsNotAKeyId() {
		byte[] encrypted = this.cipher.encrypt(filled(40, 'p'), CONTEXT);
		encrypted[3] = '\n';
		assertThatExceptionOfType(PayloadCipherException.class)
			.isThrownBy(() -> this.cipher.decrypt(encrypted, CONTEXT))
			.withMessage("It is damaged, or not in the format of this cipher");
	}

	@Test
	void keepsItsKeysWhenTheArrayChanges() {
		byte[] key = key(1);
		AesGcmPayloadCipher copied = new AesGcmPayloadCipher(Map.of("k1", key), "k1");
		Arrays.fill(key, (byte) 0);
		assertThat(this.cipher.decrypt(copied.encrypt(filled(4, 'p'), CONTEXT), CONTEXT)).isEqualTo(filled(4, 'p'));
	}

	@Test
	void takesOnlyKeysOf256Bits() {
		assertThatIllegalArgumentException().isThrownBy(() -> new AesGcmPayloadCipher(Map.of("k1", new byte[16]), "k1"))
			.withMessage("The key k1 must have 32 bytes");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "K1", "-k", "k_1", "k\n", "a23456789012345678901234567890123" })
	void takesNoOtherIds(String id) {
		assertThatIllegalArgumentException().isThrownBy(() -> new AesGcmPayloadCipher(Map.of(id, key(1)), id))
			.withMessageStartingWith("The id of a key must have 1 to 32");
	}

	@Test
	void needsItsActiveKey() {
		assertThatIllegalArgumentException().isThrownBy(() -> new AesGcmPayloadCipher(Map.of("k1", key(1)), "k2"));
	}

	@Test
	void tellsContextsApart() {
		assertThat(Stream
			.of(PayloadEncryption.context("a", "b", "c"), PayloadEncryption.context("a", "bc"),
					PayloadEncryption.context("ab", "c"), PayloadEncryption.context("a", "b", "c", null),
					PayloadEncryption.context("a", "b", "c", ""), PayloadEncryption.context("a", "b", null, "c"))
			.map(Arrays::toString)).doesNotHaveDuplicates();
	}

	static Stream<byte[]> seeds() {
		return Stream
			.of("", "\1", "\1\1", "\1\1k", "\1\0", "\1\u00ffk", "\2\1k" + "x".repeat(28), "\1\1k" + "x".repeat(27),
					"\1\1k" + "x".repeat(28), "\1\1K" + "x".repeat(28), "\1\1m" + "x".repeat(28))
			.map((seed) -> seed.getBytes(StandardCharsets.ISO_8859_1));
	}

	@MethodSource("seeds")
	@FuzzTest(maxDuration = "10m")
	void encryptsAnythingAndDecryptsNothingForged(byte[] data) {
		assertThat(this.cipher.decrypt(this.cipher.encrypt(data, CONTEXT), CONTEXT)).isEqualTo(data);
		assertThatExceptionOfType(PayloadCipherException.class).isThrownBy(() -> this.cipher.decrypt(data, CONTEXT))
			.satisfies((ex) -> assertThat(ex.getMessage()).matches("[ -~]+"));
	}

	private static void assertNotAuthentic(AesGcmPayloadCipher cipher, byte[] encrypted) {
		assertThatExceptionOfType(PayloadCipherException.class).isThrownBy(() -> cipher.decrypt(encrypted, CONTEXT))
			.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(Reason.NOT_AUTHENTIC));
	}

	private static AesGcmPayloadCipher cipher(String id, String active, int seed) {
		return new AesGcmPayloadCipher(Map.of(id, key(seed)), active);
	}

	private static byte[] key(int seed) {
		return filled(AesGcmPayloadCipher.KEY_BYTES, seed);
	}

	private static byte[] filled(int length, int value) {
		byte[] bytes = new byte[length];
		Arrays.fill(bytes, (byte) value);
		return bytes;
	}

}
