package dev.idempotent.outbox.relay;

import java.net.ConnectException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link StoreFailureLog}.
 */
@ExtendWith(OutputCaptureExtension.class)
class StoreFailureLogTests {

	private final StoreFailureLog log = new StoreFailureLog();

	private final StoreFailureLog.Worker first = this.log.worker();

	private final StoreFailureLog.Worker second = this.log.worker();

	@Test
	void logsAnOutageInOneLineForAllWorkersAndItsEndOnceTheLastHasRecovered(CapturedOutput output) {
		this.first.attempt(StoreFailureLogTests::fail);
		this.second.attempt(StoreFailureLogTests::fail);
		this.first.attempt(StoreFailureLogTests::fail);
		assertThat(output.getOut().lines()).singleElement()
			.asString()
			.contains("The outbox cannot be read")
			.endsWith("Connection refused");
		this.first.attempt(() -> false);
		assertThat(output).doesNotContain("again, after");
		this.second.attempt(() -> true);
		assertThat(output).containsOnlyOnce("The outbox can be read again, after");
	}

	@Test
	void doesNotEndAnOutageWithTheStepOfAWorkerThatHasNotFailed(CapturedOutput output) {
		this.first.attempt(StoreFailureLogTests::fail);
		this.second.attempt(() -> true);
		assertThat(output).doesNotContain("again, after");
	}

	private static boolean fail() {
		throw new IllegalStateException(new ConnectException("Connection refused"));
	}

}
