package dev.idempotent.idempotency;

import java.util.stream.Stream;

import dev.idempotent.idempotency.IdempotencyKey.Kind;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

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
	void isADigestThatDoesNotRevealTheKey() {
		IdempotencyKey key = IdempotencyKey.of(Kind.HEADER, "shop", "alice", "", "secret");
		assertThat(key.digest()).matches("[0-9a-f]{64}");
		assertThat(key).hasToString(key.digest());
	}

	@Test
	void keepsTheFormatOfKeysThatAreAlreadyStored() {
		assertThat(IdempotencyKey.of(Kind.HEADER, "shop", "alice", "", "8e03978e-40d5-43dd-bc93-6894a57f9324").digest())
			.isEqualTo("96b845248a4a1f631dd8d96466b3296845d9c6e8a9a1337f5f7a5d3267cbf081");
		assertThat(IdempotencyKey.of(Kind.FINGERPRINT, "shop", "", "Orders.place(Order)", "käse").digest())
			.isEqualTo("38eef7c4aa32e87a8b58832164575992cecf648af76665e381e0664bafffced9");
	}

}
