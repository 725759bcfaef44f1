package dev.idempotent.concurrent;

import java.io.IOException;
import java.net.ConnectException;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link OutageLog}.
 */
@ExtendWith(OutputCaptureExtension.class)
class OutageLogTests {

	private final ConnectException refused = new ConnectException("Connection refused");

	private final OutageLog outage = new OutageLog(LoggerFactory.getLogger(getClass()), "The server is away",
			"The server is back");

	@Test
	void logsOneLineWithTheCauseAndOneWithTheDuration(CapturedOutput output) {
		for (int i = 0; i < 3; i++) {
			this.outage.failed(System.nanoTime(), new IllegalStateException(this.refused));
		}
		assertThat(output).containsOnlyOnce("WARN").containsOnlyOnce("The server is away: Connection refused");
		for (int i = 0; i < 3; i++) {
			this.outage.succeeded(System.nanoTime());
		}
		assertThat(output).containsOnlyOnce("INFO").containsPattern("The server is back, after \\d+ m?s");
		assertThat(output).doesNotContain("\tat ");
	}

	@Test
	void logsNothingWhileTheServerIsAvailable(CapturedOutput output) {
		this.outage.succeeded(System.nanoTime());
		assertThat(output).isEmpty();
		assertThat(this.outage.isOpen()).isFalse();
	}

	@Test
	void ignoresTheLateFailureOfAnAttemptThatBeganBeforeTheEnd(CapturedOutput output) {
		this.outage.failed(System.nanoTime(), this.refused);
		long late = System.nanoTime();
		this.outage.succeeded(System.nanoTime());
		this.outage.failed(late, new IOException("late"));
		assertThat(output).doesNotContain("late");
		assertThat(this.outage.isOpen()).isFalse();
	}

	@Test
	void ignoresTheLateSuccessOfAnAttemptThatBeganBeforeTheOutage(CapturedOutput output) {
		long late = System.nanoTime();
		this.outage.failed(System.nanoTime(), this.refused);
		this.outage.succeeded(late);
		assertThat(output).doesNotContain("is back");
		assertThat(this.outage.isOpen()).isTrue();
	}

	@Test
	void describesDurationsInOneUnit() {
		assertThat(OutageLog.describe(Duration.ofMillis(999))).isEqualTo("999 ms");
		assertThat(OutageLog.describe(Duration.ofMillis(20_900))).isEqualTo("20 s");
		assertThat(OutageLog.describe(Duration.ofSeconds(119))).isEqualTo("119 s");
		assertThat(OutageLog.describe(Duration.ofSeconds(7300))).isEqualTo("121 min");
	}

	@Test
	void givesTheMessageOfTheInnermostCauseAsTheReason() {
		assertThat(OutageLog.reason(new IllegalStateException("outer", new ConnectException("Connection refused"))))
			.isEqualTo("Connection refused");
	}

	@Test
	void givesTheNameOfTheClassAsTheReasonIfThereIsNoMessage() {
		assertThat(OutageLog.reason(new IOException())).isEqualTo("IOException");
		assertThat(OutageLog.reason(new IOException(" "))).isEqualTo("IOException");
	}

	@Test
	void saysThatAConnectionWasClosed() {
		assertThat(OutageLog.reason(new IllegalStateException(new ClosedChannelException())))
			.isEqualTo("Connection closed");
	}

	@Test
	void omitsFurtherLinesInWhichDriversQuoteData() {
		assertThat(OutageLog.reason(new IOException("duplicate key\n  Detail: Key (name)=(secret) exists.")))
			.isEqualTo("duplicate key");
	}

	@Test
	void givesReasonsOfAtMost200Characters() {
		assertThat(OutageLog.reason(new IOException("x".repeat(1000)))).hasSize(200);
	}

	@Test
	void saysThatTheMessageThrows() {
		assertThat(OutageLog.reason(new IllegalStateException("outer", new UnreadableException())))
			.isEqualTo("java.lang.IllegalStateException, whose message throws");
	}

	private static final class UnreadableException extends RuntimeException {

		@Override
		public String getMessage() {
			throw new IllegalStateException("There is no message");
		}

	}

}
