package dev.idempotent.token;

import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import dev.idempotent.idempotency.ManualClock;
import dev.idempotent.token.TokenCheck.Outcome;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link OneTimeTokens}.
 */
class OneTimeTokensTests {

	private static final Principal ADA = () -> "ada";

	private static final Principal BOB = () -> "bob";

	private static final Principal NAMELESS = () -> " ";

	private static final Duration VALIDITY = Duration.ofHours(2);

	private final TokenSecret k1 = new TokenSecret("k1", secret(1));

	private final TokenSecret k2 = new TokenSecret("k2", secret(2));

	private final ManualClock clock = new ManualClock();

	private final OneTimeTokens tokens = tokens("shop", this.k1);

	@Test
	void acceptsATokenForItsPurposeAndCaller() {
		TokenCheck check = this.tokens.verify(this.tokens.issue("pay", ADA), "pay", ADA);
		assertThat(check.outcome()).isEqualTo(Outcome.VALID);
		assertThat(check.serial()).hasSize(22);
		assertThat(check.retention()).isEqualTo(VALIDITY.plusMinutes(5));
	}

	@Test
	void acceptsAnAnonymousTokenOfAnyCaller() {
		String token = this.tokens.issue("pay", null);
		assertThat(outcome(token, "pay", null)).isEqualTo(Outcome.VALID);
		assertThat(outcome(token, "pay", ADA)).isEqualTo(Outcome.VALID);
		assertThat(outcome(token, "pay", NAMELESS)).isEqualTo(Outcome.VALID);
	}

	@Test
	void refusesAnotherCallerPurposeOrApplication() {
		String token = this.tokens.issue("pay", ADA);
		assertThat(outcome(token, "pay", BOB)).isEqualTo(Outcome.REFUSED);
		assertThat(outcome(token, "pay", null)).isEqualTo(Outcome.REFUSED);
		assertThat(outcome(token, "pay", NAMELESS)).isEqualTo(Outcome.REFUSED);
		assertThat(outcome(token, "refund", ADA)).isEqualTo(Outcome.REFUSED);
		assertThat(tokens("bank", this.k1).verify(token, "pay", ADA).outcome()).isEqualTo(Outcome.REFUSED);
	}

	@Test
	void distinguishesPartsThatAreSplitDifferently() {
		String token = tokens("ab", this.k1).issue("c", ADA);
		assertThat(tokens("a", this.k1).verify(token, "bc", ADA).outcome()).isEqualTo(Outcome.REFUSED);
	}

	@Test
	void issuesADifferentTokenAtEachCall() {
		Set<String> issued = Stream.generate(() -> this.tokens.issue("pay", ADA))
			.limit(1000)
			.collect(Collectors.toSet());
		assertThat(issued).hasSize(1000).allSatisfy((token) -> assertThat(token).matches("[A-Za-z0-9_-]{82}"));
		assertThat(issued).extracting((token) -> this.tokens.verify(token, "pay", ADA).serial())
			.doesNotHaveDuplicates();
	}

	@Test
	void acceptsNoTokenWithAChangedByte() {
		byte[] token = Base64.getUrlDecoder().decode(this.tokens.issue("pay", ADA));
		for (int i = 0; i < token.length; i++) {
			for (int mask : new int[] { 1, 0x80, 0xff }) {
				byte[] changed = token.clone();
				changed[i] ^= (byte) mask;
				// Those of the format, the id and a time that does not exist are not
				// parsed.
				assertThat(outcome(text(changed), "pay", ADA)).as("byte %d ^ %d", i, mask)
					.isIn((i < 8) ? List.of(Outcome.REFUSED, Outcome.MALFORMED) : List.of(Outcome.REFUSED));
			}
		}
	}

	@Test
	void acceptsNoOtherTextOfTheSameBytes() {
		String token = this.tokens.issue("pay", ADA);
		char last = token.charAt(token.length() - 1);
		String alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
		assertThat(alphabet.chars().filter((other) -> other != last).mapToObj((other) -> (char) other))
			.allSatisfy((other) -> assertThat(outcome(token.substring(0, token.length() - 1) + other, "pay", ADA))
				.isNotEqualTo(Outcome.VALID));
		assertThat(outcome(token + "=", "pay", ADA)).isEqualTo(Outcome.MALFORMED);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "a", "k1", "====", "not a token", "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9", "\u00e4" })
	void doesNotTakeOtherTextForAToken(String text) {
		assertThat(outcome(text, "pay", null)).isEqualTo(Outcome.MALFORMED);
		assertThat(OneTimeTokens.serialOf(text)).isNull();
	}

	@Test
	void doesNotTakeATokenThatIsCutOffOrTooLongForAToken() {
		byte[] token = Base64.getUrlDecoder().decode(this.tokens.issue("pay", ADA));
		assertThat(IntStream.rangeClosed(0, token.length + 2).filter((length) -> length != token.length))
			.allSatisfy((length) -> assertThat(outcome(text(Arrays.copyOf(token, length)), "pay", ADA))
				.isEqualTo(Outcome.MALFORMED));
	}

	@Test
	void expiresOneMinuteAfterTheValidity() {
		String token = this.tokens.issue("pay", ADA);
		this.clock.advance(VALIDITY.plusSeconds(59));
		assertThat(outcome(token, "pay", ADA)).isEqualTo(Outcome.VALID);
		this.clock.advance(Duration.ofSeconds(2));
		TokenCheck check = this.tokens.verify(token, "pay", ADA);
		assertThat(check.outcome()).isEqualTo(Outcome.EXPIRED);
		assertThat(check.serial()).isEqualTo(OneTimeTokens.serialOf(token));
		assertThat(outcome(token, "pay", BOB)).isEqualTo(Outcome.REFUSED);
	}

	@Test
	void keepsTheOutcomeAsLongAsATokenFromBeforeAShorterValidity() {
		OneTimeTokens shorter = new OneTimeTokens("shop", List.of(this.k1), Duration.ofMinutes(1), Principal::getName,
				this.clock);
		TokenCheck check = shorter.verify(this.tokens.issue("pay", ADA), "pay", ADA);
		assertThat(check.retention()).isBetween(VALIDITY.plusMinutes(4), VALIDITY.plusMinutes(5));
	}

	@Test
	void acceptsTokensOfEachSecretAndSignsWithTheFirst() {
		String before = this.tokens.issue("pay", ADA);
		OneTimeTokens rotated = tokens("shop", this.k2, this.k1);
		String after = rotated.issue("pay", ADA);
		assertThat(rotated.verify(before, "pay", ADA).outcome()).isEqualTo(Outcome.VALID);
		assertThat(rotated.verify(after, "pay", ADA).outcome()).isEqualTo(Outcome.VALID);
		assertThat(outcome(after, "pay", ADA)).isEqualTo(Outcome.REFUSED);
		assertThat(tokens("shop", this.k2).verify(before, "pay", ADA).outcome()).isEqualTo(Outcome.REFUSED);
		assertThat(tokens("shop", this.k1, this.k2).verify(after, "pay", ADA).outcome()).isEqualTo(Outcome.VALID);
	}

	@Test
	void verifiesByTheSecretAndNotByItsIdAlone() {
		OneTimeTokens other = tokens("shop", new TokenSecret("k1", secret(2)));
		assertThat(other.verify(this.tokens.issue("pay", ADA), "pay", ADA).outcome()).isEqualTo(Outcome.REFUSED);
	}

	// NullAway does not see in a class file that the function may return null.
	@SuppressWarnings("NullAway")
	@Test
	void treatsAPrincipalWithoutAnIdentityAsAnonymous() {
		OneTimeTokens unknown = new OneTimeTokens("shop", List.of(this.k1), VALIDITY, (principal) -> null);
		assertThat(outcome(unknown.issue("pay", ADA), "pay", BOB)).isEqualTo(Outcome.VALID);
	}

	@Test
	void bindsNoTokenToACallerWithoutAName() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.tokens.issue("pay", NAMELESS))
			.withMessageContaining("Pass null");
	}

	@Test
	void requiresAPurpose() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.tokens.issue(" ", ADA))
			.withMessageContaining("purpose");
	}

	@Test
	void requiresSecretsWithDifferentIdsAndAValidityInRange() {
		assertThatIllegalArgumentException().isThrownBy(() -> tokens("shop"));
		assertThatIllegalArgumentException().isThrownBy(() -> tokens("shop", this.k1, this.k1));
		assertThatIllegalArgumentException().isThrownBy(() -> new TokenSecret("K1", secret(1)));
		assertThatIllegalArgumentException().isThrownBy(() -> new TokenSecret("k1", new byte[31]));
		for (Duration validity : List.of(Duration.ofMillis(999), Duration.ofDays(366))) {
			assertThatIllegalArgumentException()
				.isThrownBy(() -> new OneTimeTokens("shop", List.of(this.k1), validity, Principal::getName));
		}
	}

	@Test
	void showsNoSecret() {
		assertThat(this.k1).hasToString("k1");
	}

	private Outcome outcome(String token, String purpose, @Nullable Principal caller) {
		return this.tokens.verify(token, purpose, caller).outcome();
	}

	private OneTimeTokens tokens(String namespace, TokenSecret... secrets) {
		return new OneTimeTokens(namespace, List.of(secrets), VALIDITY, Principal::getName, this.clock);
	}

	private static String text(byte[] token) {
		return Base64.getUrlEncoder().withoutPadding().encodeToString(token);
	}

	private static byte[] secret(int number) {
		return "%032d".formatted(number).getBytes(StandardCharsets.US_ASCII);
	}

}
