package dev.idempotent.outbox;

import java.util.List;

import dev.idempotent.IdempotentConfigurationException;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Publishers of the topics.
 */
class OutboxTopicsTests {

	@Test
	void namesTwoPublishersOfOnePrefix() {
		assertThatExceptionOfType(IdempotentConfigurationException.class)
			.isThrownBy(() -> topics(new First(), new Second()))
			.withMessageContainingAll("'ledger:'", First.class.getName(), Second.class.getName());
	}

	@Test
	void tellsAnEventWithoutATopicThatThereIsNoPublisher() {
		assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> topics().resolve(null))
			.withMessage("The event has no topic, and there is no publisher that could deliver it");
	}

	@Test
	void haveOneForEachHandlerOfAType() {
		OutboxTopics topics = topics(new First());
		assertThat(topics.resolve("handlers", "order.placed")).containsExactly("handlers:book", "handlers:mail");
		assertThat(topics.resolve("ledger:orders", "order.placed")).containsExactly("ledger:orders");
		assertThatIllegalArgumentException().isThrownBy(() -> topics.resolve("handlers", "order.lost"))
			.withMessageContaining("order.lost");
	}

	@Test
	void areThoseOfPublishersAndHandlers() {
		OutboxTopics topics = topics(new First());
		assertThat(topics.serves("ledger:orders")).isTrue();
		assertThat(topics.serves("handlers:book")).isTrue();
		assertThat(topics.serves("other:orders")).isFalse();
		assertThat(topics.serves("handlers")).isFalse();
	}

	private static OutboxTopics topics(OutboxPublisher... publishers) {
		return new OutboxTopics(List.of(publishers), null,
				(type) -> type.equals("order.placed") ? List.of("book", "mail") : List.of());
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
