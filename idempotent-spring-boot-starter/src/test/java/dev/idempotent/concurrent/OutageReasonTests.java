package dev.idempotent.concurrent;

import java.io.IOException;
import java.net.ConnectException;
import java.nio.channels.ClosedChannelException;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link OutageLog#reason}.
 */
class OutageReasonTests {

	@Test
	void isTheMessageOfTheInnermostCause() {
		assertThat(OutageLog.reason(new IllegalStateException("outer", new ConnectException("Connection refused"))))
			.isEqualTo("Connection refused");
	}

	@Test
	void isTheNameOfTheClassIfThereIsNoMessage() {
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
	void hasAtMost200Characters() {
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
