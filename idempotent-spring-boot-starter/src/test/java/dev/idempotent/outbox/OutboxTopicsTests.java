package dev.idempotent.outbox;

import java.util.List;

import dev.idempotent.IdempotentConfigurationException;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Publishers of the topics.
 */
class OutboxTopicsTests {

	@Test
	void namesTwoPublishersOfOnePrefix() {
		assertThatExceptionOfType(IdempotentConfigurationException.class)
			.isThrownBy(() -> new OutboxTopics(List.of(new First(), new Second()), null))
			.withMessageContainingAll("'ledger:'", First.class.getName(), Second.class.getName());
	}

	@Test
	void tellsAnEventWithoutATopicThatThereIsNoPublisher() {
		assertThatExceptionOfType(IllegalArgumentException.class)
			.isThrownBy(() -> new OutboxTopics(List.of(), null).resolve(null))
			.withMessage("The event has no topic, and there is no publisher that could deliver it");
	}

	private static class First implements OutboxPublisher {

		@Override
		public String prefix() {
			return "ledger";
		}

		@Override
		public List<Outcome> publish(List<SerializedEvent> events) {
			return List.of();
		}

	}

	private static final class Second extends First {

	}

}
