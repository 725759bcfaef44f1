package dev.idempotent.idempotency;

import java.time.Instant;
import java.util.UUID;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.NullAndEmptySource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link RunOrigin}.
 */
class RunOriginTests {

	private static final Instant SINCE = Instant.parse("2026-11-22T04:05:06.789Z");

	private static final String TRACE_ID = "0af7651916cd43dd8448eb211c80319c";

	private static final String SPAN_ID = "b7ad6b7169203331";

	private static final String TRACE = "00-" + TRACE_ID + "-" + SPAN_ID + "-01";

	@ParameterizedTest
	@EnumSource(names = { "LEASE", "TRANSACTION" })
	void isReadAsItWasWritten(Guarantee guarantee) {
		RunOrigin traced = new RunOrigin(SINCE, guarantee, TRACE);
		assertThat(RunOrigin.parse(traced.toText())).isEqualTo(traced);
		assertThat(RunOrigin.ofToken(traced.toToken(UUID.randomUUID().toString()))).isEqualTo(traced);
		RunOrigin untraced = new RunOrigin(SINCE, guarantee, null);
		assertThat(RunOrigin.parse(untraced.toText())).isEqualTo(untraced);
		assertThat(RunOrigin.ofToken(untraced.toToken(UUID.randomUUID().toString()))).isEqualTo(untraced);
	}

	@Test
	void knowsTheIdsOfItsTrace() {
		RunOrigin origin = new RunOrigin(SINCE, Guarantee.LEASE, TRACE);
		assertThat(origin.traceId()).isEqualTo(TRACE_ID);
		assertThat(origin.spanId()).isEqualTo(SPAN_ID);
		assertThat(origin.isSampled()).isTrue();
		assertThat(new RunOrigin(SINCE, Guarantee.LEASE, "00-" + TRACE_ID + "-" + SPAN_ID + "-02").isSampled())
			.isFalse();
	}

	@ParameterizedTest
	@NullAndEmptySource
	@ValueSource(strings = { "00", TRACE + "\r\nSET x 1", TRACE + "-extra", "00-" + TRACE_ID + "-" + SPAN_ID,
			"00-0AF7651916CD43DD8448EB211C80319C-" + SPAN_ID + "-01", "ff-" + TRACE_ID + "-" + SPAN_ID + "-01",
			"00-00000000000000000000000000000000-" + SPAN_ID + "-01", "00-" + TRACE_ID + "-0000000000000000-01",
			"00-" + SPAN_ID + "-" + SPAN_ID + "-01", "00-${jndi:ldap://x}0000000000000000000-" + SPAN_ID + "-01" })
	void leavesOutATraceInAnotherFormat(@Nullable String hostile) {
		RunOrigin origin = new RunOrigin(SINCE, Guarantee.LEASE, hostile);
		assertThat(origin.traceparent()).isNull();
		assertThat(origin.traceId()).isNull();
		assertThat(origin.spanId()).isNull();
		assertThat(origin.isSampled()).isFalse();
		assertThat(RunOrigin.parse(origin.toText())).isEqualTo(origin);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", ".", "..", "1", "1.l", "1.x.", ".l.", "-1.l.", "zzzzzzzzzzzzz.l.", "1 .l.", "\n1.l.",
			"1.l.\n", "1.l." + TRACE + "\n", "1.L." })
	void isUnknownFromForeignText(String text) {
		assertThat(RunOrigin.parse(text)).satisfiesAnyOf((origin) -> assertThat(origin).isNull(),
				(origin) -> assertThat(origin.traceparent()).isNull());
		assertThat(RunOrigin.ofToken(text)).isNull();
	}

	@Test
	void readsTheLargestNumberThatItsFormatAllows() {
		assertThat(RunOrigin.parse("zzzzzzzzzzzz.t.")).isNotNull();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "5f0c3a51-6b0f-4a5e-9d3b-1c2d3e4f5a6b", "5f0c3a51-6b0f-4a5e-9d3b-1c2d3e4f5a6b.",
			"5f0c3a51-6b0f-4a5e-9d3b-1c2d3e4f5a6b:1.l.", "rival" })
	void isUnknownFromATokenOfAnotherVersion(String token) {
		assertThat(RunOrigin.ofToken(token)).isNull();
	}

	@Test
	void fitsIntoTheColumnOfTokens() {
		String token = new RunOrigin(Instant.parse("9999-12-31T23:59:59.999Z"), Guarantee.TRANSACTION, TRACE)
			.toToken(UUID.randomUUID().toString());
		assertThat(token).hasSizeLessThanOrEqualTo(128).matches("[\\x21-\\x7e]+");
		assertThat(token.substring(37)).hasSizeLessThanOrEqualTo(72);
	}

}
