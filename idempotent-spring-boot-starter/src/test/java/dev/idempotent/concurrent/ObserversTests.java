package dev.idempotent.concurrent;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Observers}.
 */
@ExtendWith(OutputCaptureExtension.class)
class ObserversTests {

	private final List<String> called = new ArrayList<>();

	private final Observers<String> observers = new Observers<>(List.of("first", "second"),
			LoggerFactory.getLogger(ObserversTests.class), "A test observer", "the test goes on");

	@Test
	void areAllCalledIfOneFails(CapturedOutput output) {
		for (int i = 0; i < 2; i++) {
			this.observers.each((observer) -> {
				this.called.add(observer);
				throw new NoClassDefFoundError("secret");
			});
		}
		this.observers.run(() -> this.called.add("scope"));
		assertThat(this.called).containsExactly("first", "second", "first", "second", "scope");
		assertThat(output)
			.containsOnlyOnce("A test observer has failed with java.lang.NoClassDefFoundError; the test goes on")
			.doesNotContain("secret");
	}

}
