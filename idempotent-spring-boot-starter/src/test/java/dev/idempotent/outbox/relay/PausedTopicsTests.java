package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.outbox.TopicControl;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.dao.DataAccessResourceFailureException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link PausedTopics}.
 */
@ExtendWith(OutputCaptureExtension.class)
class PausedTopicsTests {

	private final FlakyControl control = new FlakyControl();

	private final AtomicInteger resumes = new AtomicInteger();

	private final Requirements requirements = new Requirements();

	private final PausedTopics topics = new PausedTopics(this.control, this.requirements,
			this.resumes::incrementAndGet);

	/**
	 * Paused topics of an application that has paused none.
	 */
	static PausedTopics none() {
		return new PausedTopics(new FlakyControl(), () -> {
		}, () -> {
		});
	}

	@Test
	void keepsTheLastKnownTopicsWhileTheyCannotBeRead(CapturedOutput output) {
		this.control.topics = Set.of("test:a");
		this.topics.read();
		this.control.failures = 2;
		this.topics.read();
		this.topics.read();
		assertThat(this.topics.topics()).containsExactly("test:a");
		assertThat(this.topics.isKnown()).isTrue();
		this.control.topics = Set.of();
		this.topics.read();
		assertThat(this.topics.topics()).isEmpty();
		assertThat(this.resumes).hasValue(1);
		assertThat(output).containsOnlyOnce("cannot be read; the last known ones stay paused")
			.containsOnlyOnce("can be read again");
	}

	@Test
	void isNotKnownBeforeTheFirstSuccessfulRead() {
		this.control.failures = 3;
		for (int i = 0; i < 3; i++) {
			this.topics.refresh(Duration.ofHours(1));
			assertThat(this.topics.isKnown()).isFalse();
		}
		this.topics.refresh(Duration.ofHours(1));
		assertThat(this.topics.isKnown()).isTrue();
		assertThat(this.control.reads).isEqualTo(4);
	}

	@Test
	void noticesResumedTopics() {
		for (Set<String> paused : List.of(Set.of("test:a", "test:b"), Set.of("test:a", "test:c"), Set.of("test:a"))) {
			this.control.topics = paused;
			this.topics.read();
		}
		assertThat(this.resumes).hasValue(2);
		assertThat(this.topics.contains("test:a")).isTrue();
		assertThat(this.topics.contains("test:b")).isFalse();
	}

	@Test
	void sharesOneReadAmongWorkers() {
		Stream.generate(() -> this.topics).limit(1000).forEach((same) -> same.refresh(Duration.ofHours(1)));
		assertThat(this.control.reads).isOne();
	}

	@Test
	void areNotKnownBeforeTheirRequirementsAreMet(CapturedOutput output) {
		this.requirements.failure = new DataAccessResourceFailureException("read-only");
		this.topics.read();
		this.requirements.failure = new IdempotentConfigurationException("permission denied", "Grant it.");
		this.topics.read();
		assertThat(this.topics.isKnown()).isFalse();
		assertThat(output).contains("delivers nothing: permission denied");
		this.requirements.failure = null;
		this.topics.read();
		assertThat(this.topics.isKnown()).isTrue();
	}

	private static final class Requirements implements Runnable {

		private @Nullable RuntimeException failure;

		@Override
		public void run() {
			if (this.failure != null) {
				throw this.failure;
			}
		}

	}

	private static final class FlakyControl implements TopicControl {

		private Set<String> topics = Set.of();

		private int failures;

		private int reads;

		@Override
		public boolean pause(String topic) {
			throw new UnsupportedOperationException();
		}

		@Override
		public boolean resume(String topic) {
			throw new UnsupportedOperationException();
		}

		@Override
		public List<PausedTopic> paused() {
			this.reads++;
			if (this.failures-- > 0) {
				throw new DataAccessResourceFailureException("away");
			}
			return this.topics.stream().map((topic) -> new PausedTopic(topic, Duration.ZERO)).toList();
		}

	}

}
