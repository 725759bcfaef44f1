package dev.idempotent.idempotency;

import java.nio.charset.StandardCharsets;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link RunDescription}.
 */
class RunDescriptionTests {

	@Test
	void isReadAsItWasWritten() {
		RunDescription run = new RunDescription("Payments.pay", "4711@node-7", false);
		assertThat(RunDescription.parse(run.toBytes())).isEqualTo(run);
		assertThat(RunDescription.parse(run.ofStep().toBytes())).isEqualTo(run.ofStep()).isNotEqualTo(run);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "run", "run\npay", "saga\npay\n1@a", "run\npay\n1@a\nmore" })
	void isUnknownInAnotherFormat(String text) {
		assertThat(RunDescription.parse(text.getBytes(StandardCharsets.UTF_8))).isNull();
	}

	@Test
	void keepsItsSizeAndItsFormatWhateverTheNames() {
		RunDescription run = new RunDescription("a\nb\0" + "\ud83d\ude00".repeat(1000),
				"\n" + "\ud83d\ude00".repeat(1000), true);
		assertThat(run.operation()).startsWith("a b ").hasSize(4 + 2 * 196);
		assertThat(run.toBytes()).hasSizeLessThanOrEqualTo(1606);
		assertThat(RunDescription.parse(run.toBytes())).isEqualTo(run);
	}

}
