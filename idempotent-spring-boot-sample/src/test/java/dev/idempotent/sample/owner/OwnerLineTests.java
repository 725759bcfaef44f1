package dev.idempotent.sample.owner;

import dev.idempotent.sample.owner.OwnerLine.Word;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class OwnerLineTests {

	@Test
	void isParsedFromItsPrintedForm() {
		OwnerLine line = new OwnerLine(Word.HALTS, "after-call");
		assertThat(OwnerLine.parse(line.toString())).isEqualTo(line);
	}

	@Test
	void isIgnoredIfItIsOtherOutput() {
		assertThat(OwnerLine.parse("2026-11-22 INFO saga-owner: READY 8080")).isNull();
		assertThat(OwnerLine.parse("saga-owner: ready")).isNull();
	}

}
