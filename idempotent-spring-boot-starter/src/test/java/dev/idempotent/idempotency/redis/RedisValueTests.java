package dev.idempotent.idempotency.redis;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.RunDescription;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.StoredResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link RedisValue}.
 */
class RedisValueTests {

	private static final Fingerprint REQUEST = Samples.fingerprint("request");

	private static final byte[] COMPLETED = RedisValue.completed("owner", REQUEST, Samples.response("the response"));

	@Test
	void isReadAsItWasWritten() {
		assertThat(RedisValue.read(COMPLETED)).isNotNull().satisfies((value) -> {
			assertThat(value.isCompleted()).isTrue();
			assertThat(value.token()).isEqualTo("owner");
			assertThat(value.response()).isEqualTo(Samples.response("the response"));
		});
		assertThat(RedisValue.read(RedisValue.pending("owner", REQUEST, null))).isNotNull().satisfies((value) -> {
			assertThat(value.isCompleted()).isFalse();
			assertThat(value.token()).isEqualTo("owner");
		});
	}

	@Test
	void tellsWhatRunsUnderAPendingKey() {
		RunDescription run = new RunDescription("pay", "7@node", true);
		assertThat(RedisValue.read(RedisValue.pending("owner", REQUEST, run))).isNotNull()
			.extracting(RedisValue::run)
			.isEqualTo(run);
		assertThat(RedisValue.read(RedisValue.pending("owner", REQUEST, null))).isNotNull()
			.extracting(RedisValue::run)
			.isNull();
	}

	@Test
	void tellsAResponseThatIsNotKept() {
		byte[] value = RedisValue.completed("owner", REQUEST, StoredResponse.notKept());
		assertThat(RedisValue.read(value)).isNotNull()
			.extracting(RedisValue::response)
			.isSameAs(StoredResponse.notKept());
	}

	@Test
	void beginsWithItsTokenAndState() {
		assertThat(COMPLETED).startsWith(RedisValue.completedPrefix("owner"));
		assertThat(RedisValue.pending("owner", REQUEST, null)).startsWith(RedisValue.pendingPrefix("owner"));
	}

	@Test
	void isUnknownIfItIsTruncatedBeforeItsResponse() {
		int head = COMPLETED.length - "the response".length();
		for (int length = 0; length < head; length++) {
			assertThat(RedisValue.read(Arrays.copyOf(COMPLETED, length))).isNull();
		}
		assertThat(RedisValue.read(Arrays.copyOf(COMPLETED, head))).isNotNull();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "PENDING", "{\"state\":\"PENDING\"}", "IK", "\u00f5IK\u0001" })
	void isUnknownInAnotherFormat(String text) {
		assertThat(RedisValue.read(text.getBytes(StandardCharsets.UTF_8))).isNull();
	}

	@Test
	void isUnknownInAnotherStateOrVersion() {
		byte[] state = COMPLETED.clone();
		state[RedisValue.completedPrefix("owner").length - 1] = 'X';
		assertThat(RedisValue.read(state)).isNull();
		byte[] version = COMPLETED.clone();
		version[3]++;
		assertThat(RedisValue.read(version)).isNull();
	}

	@Test
	void refusesATokenThatIsTooLong() {
		String longest = "t".repeat(255);
		assertThat(RedisValue.read(RedisValue.pending(longest, REQUEST, null))).isNotNull()
			.extracting(RedisValue::token)
			.isEqualTo(longest);
		assertThatExceptionOfType(IllegalArgumentException.class)
			.isThrownBy(() -> RedisValue.pending(longest + "t", REQUEST, null))
			.withMessageContaining("256 bytes");
	}

}
