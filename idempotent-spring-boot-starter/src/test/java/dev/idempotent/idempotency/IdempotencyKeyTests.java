package dev.idempotent.idempotency;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;

import dev.idempotent.idempotency.IdempotencyKey.Kind;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link IdempotencyKey}.
 */
class IdempotencyKeyTests {

	@Test
	void isEqualForEqualParts() {
		assertThat(IdempotencyKey.of(Kind.EXPRESSION, "shop", "alice", "order", "key"))
			.isEqualTo(IdempotencyKey.of(Kind.EXPRESSION, "shop", "alice", "order", "key"));
	}

	@Test
	void differsIfAnyPartDiffers() {
		assertThat(Stream.of(IdempotencyKey.of(Kind.EXPRESSION, "shop", "alice", "order", "key"),
				IdempotencyKey.of(Kind.HEADER, "shop", "alice", "order", "key"),
				IdempotencyKey.of(Kind.EXPRESSION, "store", "alice", "order", "key"),
				IdempotencyKey.of(Kind.EXPRESSION, "shop", "bob", "order", "key"),
				IdempotencyKey.of(Kind.EXPRESSION, "shop", "alice", "refund", "key"),
				IdempotencyKey.of(Kind.EXPRESSION, "shop", "alice", "order", "Key")))
			.doesNotHaveDuplicates();
	}

	@Test
	void differsForPartsThatAreSplitDifferently() {
		assertThat(Stream.of(IdempotencyKey.of(Kind.HEADER, "ab", "c", "", "key"),
				IdempotencyKey.of(Kind.HEADER, "a", "bc", "", "key"),
				IdempotencyKey.of(Kind.HEADER, "abc", "", "", "key"),
				IdempotencyKey.of(Kind.HEADER, "", "abc", "", "key"),
				IdempotencyKey.of(Kind.HEADER, "", "ab", "c", "key"),
				IdempotencyKey.of(Kind.HEADER, "", "ab", "ckey", ""),
				IdempotencyKey.of(Kind.HEADER, "", "ab\0\0\0\1c", "", "key")))
			.doesNotHaveDuplicates();
	}

	@Test
	void differsForScopesThatAreNotUnicode() {
		assertThat(Stream.of("?", "\ud800", "\ud801", "\udc00", "\ud800?", "\ud83d\ude00", "\ude00\ud83d", "\u00e9")
			.map((scope) -> IdempotencyKey.of(Kind.METHOD, "", scope, "run", "key"))).doesNotHaveDuplicates();
	}

	@Test
	void staysTheSameForAllOtherText() {
		assertThat(LengthPrefixedDigest.of("\u00e9 \u20ac \ud83d\ude00"))
			.isEqualTo(LengthPrefixedDigest.of(List.of("\u00e9 \u20ac \ud83d\ude00".getBytes(StandardCharsets.UTF_8))));
		assertThat(LengthPrefixedDigest.of("\u00e9\ud800")).isEqualTo(LengthPrefixedDigest
			.of(List.of(new byte[] { (byte) 0xc3, (byte) 0xa9, (byte) 0xed, (byte) 0xa0, (byte) 0x80 })));
	}

	@Test
	void isADigestThatDoesNotRevealTheKey() {
		IdempotencyKey key = IdempotencyKey.of(Kind.HEADER, "shop", "alice", "", "secret");
		assertThat(key.digest()).matches("[0-9a-f]{64}");
		assertThat(key).hasToString(key.digest());
	}

	@Test
	void refusesHalfOfACharacter() {
		for (String half : new String[] { "a\ud83d", "\ude00", "\ude00\ud83d" }) {
			assertThatIllegalArgumentException()
				.isThrownBy(() -> IdempotencyKey.of(IdempotencyKey.Kind.METHOD, "shop", "", "place", half))
				.withMessageContaining("half of a character");
			assertThatIllegalArgumentException()
				.isThrownBy(() -> IdempotencyKey.of(IdempotencyKey.Kind.STEP, "shop", "", half, "k"));
		}
		assertThat(IdempotencyKey.of(IdempotencyKey.Kind.METHOD, "shop", "", "place", "\ud83d\ude00").digest())
			.hasSize(64);
	}

	@Test
	void keepsTheFormatOfKeysThatAreAlreadyStored() {
		assertThat(IdempotencyKey.of(Kind.HEADER, "shop", "alice", "", "8e03978e-40d5-43dd-bc93-6894a57f9324").digest())
			.isEqualTo("96b845248a4a1f631dd8d96466b3296845d9c6e8a9a1337f5f7a5d3267cbf081");
		assertThat(IdempotencyKey.of(Kind.FINGERPRINT, "shop", "", "Orders.place(Order)", "käse").digest())
			.isEqualTo("38eef7c4aa32e87a8b58832164575992cecf648af76665e381e0664bafffced9");
	}

}
