package dev.idempotent.outbox.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;

import dev.idempotent.idempotency.Race;
import dev.idempotent.outbox.TopicControl;
import dev.idempotent.outbox.TopicControl.PausedTopic;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * What is promised about paused topics on every database.
 */
abstract class TopicControlContract {

	abstract StoreOnTables tested();

	@AfterEach
	void resumeAll() {
		tested().template().update("delete from " + tested().tables().control());
	}

	@Test
	void pausesATopicUntilItIsResumed() {
		assertThat(control().pause("test:b")).isTrue();
		assertThat(control().pause("test:b")).isFalse();
		assertThat(control().pause("test:a")).isTrue();
		assertThat(control().paused()).extracting(PausedTopic::topic).containsExactly("test:a", "test:b");
		assertThat(control().paused()).extracting(PausedTopic::pausedFor)
			.allMatch((age) -> age.compareTo(Duration.ofMinutes(2)) < 0);
		assertThat(control().resume("test:b")).isTrue();
		assertThat(control().resume("test:b")).isFalse();
		assertThat(control().paused()).extracting(PausedTopic::topic).containsExactly("test:a");
	}

	@Test
	void letsOneOfManyOperatorsPauseATopic() throws InterruptedException {
		List<Boolean> changed = Race.of(4, (operator) -> control().pause("test:contended"));
		assertThat(changed).containsOnlyOnce(true);
	}

	@Test
	void limitsTheNumberOfPausedTopics() {
		List<Object[]> most = IntStream.range(0, TopicControl.MAX_TOPICS)
			.mapToObj((i) -> new Object[] { "test:" + i })
			.toList();
		tested().template().batchUpdate("insert into " + tested().tables().control() + " (topic) values (?)", most);
		assertThat(control().pause("test:0")).isFalse();
		assertThatIllegalStateException().isThrownBy(() -> control().pause("test:more"))
			.withMessage("1000 topics are paused");
		control().resume("test:0");
		assertThat(control().pause("test:more")).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "orders", "test:", ":orders", "te st:orders", "test:or\0ders", "test:or\nders" })
	void refusesWhatIsNotATopic(String topic) {
		assertThatIllegalArgumentException().isThrownBy(() -> control().pause(topic))
			.withMessageStartingWith("A topic consists of");
		assertThat(control().paused()).isEmpty();
	}

	@Test
	void refusesATopicThatIsTooLong() {
		String longest = "test:" + "x".repeat(250);
		assertThat(control().pause(longest)).isTrue();
		assertThatIllegalArgumentException().isThrownBy(() -> control().pause(longest + "x"));
	}

	@Test
	void treatsATopicAsText() {
		String topic = "test:'; drop table x; -- " + UUID.randomUUID();
		assertThat(control().pause(topic)).isTrue();
		assertThat(control().paused()).extracting(PausedTopic::topic).containsExactly(topic);
		assertThat(control().resume(topic)).isTrue();
	}

	private TopicControl control() {
		return new JdbcTopicControl(tested().dataSource(), tested().tables());
	}

}
