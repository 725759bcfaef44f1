package dev.idempotent.outbox;

import java.util.Map;
import java.util.UUID;
import java.util.stream.LongStream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link SerializedEvent}.
 */
class SerializedEventTests {

	/**
	 * The sequence extension of CloudEvents requires it.
	 */
	@Test
	void hasASequenceThatIsOrderedAsText() {
		assertThat(
				LongStream.of(0, 1, 9, 10, 99, 100, 1L << 40, Long.MAX_VALUE).mapToObj(SerializedEventTests::sequence))
			.isSorted()
			.doesNotHaveDuplicates()
			.allMatch((text) -> text.length() == 19);
	}

	private static String sequence(long row) {
		return event(row, "key").headers().getOrDefault("ce_sequence", "");
	}

	/**
	 * CloudEvents requires it.
	 */
	@Test
	void hasNoEmptySubject() {
		assertThat(event(1, "").headers()).doesNotContainKeys("ce_subject", "ce_partitionkey");
		assertThat(event(1, "key").headers()).containsEntry("ce_subject", "key")
			.containsEntry("ce_partitionkey", "key");
	}

	private static SerializedEvent event(long row, String key) {
		return new SerializedEvent(UUID.randomUUID(), row, "test:orders", key, "type", new byte[0], Map.of(), 1);
	}

}
