package dev.idempotent.work;

import java.io.IOException;
import java.net.ConnectException;
import java.nio.channels.ClosedChannelException;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link RootCause}.
 */
class RootCauseTests {

	@Test
	void isTheMessageOfTheInnermostCause() {
		assertThat(RootCause.of(new IllegalStateException("outer", new ConnectException("Connection refused"))))
			.isEqualTo("Connection refused");
	}

	@Test
	void isTheNameOfTheClassIfThereIsNoMessage() {
		assertThat(RootCause.of(new IOException())).isEqualTo("IOException");
		assertThat(RootCause.of(new IOException(" "))).isEqualTo("IOException");
	}

	@Test
	void saysThatAConnectionWasClosed() {
		assertThat(RootCause.of(new IllegalStateException(new ClosedChannelException())))
			.isEqualTo("Connection closed");
	}

	@Test
	void omitsFurtherLinesInWhichDriversQuoteData() {
		assertThat(RootCause.of(new IOException("duplicate key\n  Detail: Key (name)=(secret) exists.")))
			.isEqualTo("duplicate key");
	}

	@Test
	void hasAtMost200Characters() {
		assertThat(RootCause.of(new IOException("x".repeat(1000)))).hasSize(200);
	}

}
