package dev.idempotent.idempotency.web;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.Random;

import dev.idempotent.idempotency.web.Problem.RefusedRequestException;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.mock.web.MockHttpServletRequest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link BufferedRequest}.
 */
class BufferedRequestTests {

	private static final int LIMIT = 100_000;

	@ParameterizedTest
	@CsvSource({ "0, 0", "1, 1", "200, 200", "16384, 16384", "16385, 16385", "100000, 100000", "200, -1", "0, -1",
			"9000, -1", "100000, -1", "200, 1000", "50000, 90000", "200, 100", "50000, 17000", "100000, 99999" })
	void readsTheWholeBodyWhateverLengthIsStated(int length, int stated) throws IOException {
		byte[] body = body(length);
		assertThat(read(body, stated).body()).isEqualTo(body);
	}

	@ParameterizedTest
	@CsvSource({ "100001, 100001", "100001, -1", "100001, 100000", "100001, 200", "0, 100001", "1000000, -1" })
	void refusesABodyOverTheLimit(int length, int stated) {
		assertThatExceptionOfType(RefusedRequestException.class).isThrownBy(() -> read(body(length), stated))
			.withMessageContaining(Integer.toString(LIMIT));
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 200, 16384 })
	void readsABodyOfTheStatedLengthIntoOneArray(int length) throws IOException {
		BodyStream stream = new BodyStream(body(length));
		BufferedRequest.read(request(stream, length), LIMIT);
		assertThat(stream.largestRead).isEqualTo(length);
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 200 })
	void doesNotTrustAStatedLengthThatIsNotSent(int sent) throws IOException {
		BodyStream stream = new BodyStream(body(sent));
		BufferedRequest.read(request(stream, LIMIT), LIMIT);
		assertThat(stream.largestRead).isLessThanOrEqualTo(16 * 1024);
	}

	private static BufferedRequest read(byte[] body, int stated) throws IOException {
		return BufferedRequest.read(request(new BodyStream(body), stated), LIMIT);
	}

	private static MockHttpServletRequest request(ServletInputStream stream, int stated) {
		return new MockHttpServletRequest() {

			@Override
			public ServletInputStream getInputStream() {
				return stream;
			}

			@Override
			public long getContentLengthLong() {
				return stated;
			}

		};
	}

	private static byte[] body(int length) {
		byte[] body = new byte[length];
		new Random(length).nextBytes(body);
		return body;
	}

	/**
	 * Returns fewer bytes than asked for, as a connection does.
	 */
	private static final class BodyStream extends ServletInputStream {

		private final ByteArrayInputStream body;

		private int largestRead;

		BodyStream(byte[] body) {
			this.body = new ByteArrayInputStream(body);
		}

		@Override
		public int read() {
			return this.body.read();
		}

		@Override
		public int read(byte[] target, int offset, int length) {
			this.largestRead = Math.max(this.largestRead, length);
			return this.body.read(target, offset, Math.min(length, 1_000));
		}

		@Override
		public boolean isFinished() {
			return this.body.available() == 0;
		}

		@Override
		public boolean isReady() {
			return true;
		}

		@Override
		public void setReadListener(ReadListener listener) {
			throw new UnsupportedOperationException();
		}

	}

}
