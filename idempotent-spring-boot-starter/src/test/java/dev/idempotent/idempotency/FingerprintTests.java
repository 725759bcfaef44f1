package dev.idempotent.idempotency;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Fingerprint}.
 */
class FingerprintTests {

	@Test
	void isEqualForEqualPartsAndContradictsNothing() {
		assertThat(of("POST", "/orders")).isEqualTo(of("POST", "/orders"));
		assertThat(of("POST", "/orders").contradicts(of("POST", "/orders"))).isFalse();
	}

	@Test
	void contradictsTheFingerprintOfAnotherRequest() {
		assertThat(of("POST", "/orders").contradicts(of("POST", "/refunds"))).isTrue();
	}

	@Test
	void contradictsNoFingerprintOfAnotherVersion() {
		Fingerprint later = new Fingerprint(Fingerprint.CURRENT_VERSION + 1, of("POST", "/refunds").digest());
		assertThat(of("POST", "/orders").contradicts(later)).isFalse();
		assertThat(later.contradicts(of("POST", "/orders"))).isFalse();
	}

	@Test
	void differsForPartsThatAreSplitOrOrderedDifferently() {
		assertThat(
				Stream.of(of("ab", "c"), of("a", "bc"), of("abc"), of("abc", ""), of("", "abc"), of("c", "ab"), of()))
			.doesNotHaveDuplicates();
	}

	@Test
	void isADigestThatDoesNotRevealTheRequest() {
		assertThat(of("secret").digest()).matches("[0-9a-f]{64}");
	}

	@Test
	void keepsTheFormatOfFingerprintsThatAreAlreadyStored() {
		assertThat(of("POST", "/orders", "", "{\"name\":\"käse\"}"))
			.isEqualTo(new Fingerprint(6, "9ef5ced2669c04281873a7c27d32aa3e72a8b767439b4352ac25605bb190b06f"));
	}

	private static Fingerprint of(String... parts) {
		List<byte[]> bytes = Stream.of(parts).map((part) -> part.getBytes(StandardCharsets.UTF_8)).toList();
		return Fingerprint.of(bytes);
	}

}
