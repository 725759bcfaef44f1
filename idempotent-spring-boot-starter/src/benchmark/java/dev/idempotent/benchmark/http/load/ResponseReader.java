package dev.idempotent.benchmark.http.load;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;

import org.springframework.util.Assert;

/**
 * Reads responses, one after the other, and allocates nothing for most of them.
 */
final class ResponseReader {

	private static final byte[] LENGTH = bytes("content-length:");

	private static final byte[] CHUNKED = bytes("transfer-encoding: chunked");

	private static final byte[] REPLAYED = bytes("idempotent-replayed: true");

	private static final int STATUS_AT = "HTTP/1.1 ".length();

	private final InputStream in;

	private final byte[] line = new byte[8192];

	private int lineLength;

	private byte[] body = new byte[1024];

	private int bodyLength;

	private int status;

	private boolean replayed;

	ResponseReader(InputStream in) {
		this.in = new BufferedInputStream(in, 16384);
	}

	void read() throws IOException {
		nextLine();
		this.status = number(STATUS_AT, 10);
		this.replayed = false;
		this.bodyLength = 0;
		int length = 0;
		boolean chunked = false;
		for (nextLine(); this.lineLength > 0; nextLine()) {
			if (startsWith(LENGTH)) {
				length = number(LENGTH.length + 1, 10);
			}
			chunked |= startsWith(CHUNKED);
			this.replayed |= startsWith(REPLAYED);
		}
		if (chunked) {
			readChunks();
		}
		else {
			append(length);
		}
	}

	boolean is(Traffic traffic) {
		return this.status == traffic.status() && this.replayed == traffic.replayed();
	}

	boolean hasBody(byte[] expected) {
		return Arrays.equals(this.body, 0, this.bodyLength, expected, 0, expected.length);
	}

	private void readChunks() throws IOException {
		int length;
		do {
			nextLine();
			length = number(0, 16);
			append(length);
			nextLine();
		}
		while (length > 0);
	}

	private void append(int length) throws IOException {
		if (this.bodyLength + length > this.body.length) {
			this.body = Arrays.copyOf(this.body, 2 * (this.bodyLength + length));
		}
		int read = this.in.readNBytes(this.body, this.bodyLength, length);
		Assert.state(read == length, "The server has closed the connection");
		this.bodyLength += length;
	}

	private void nextLine() throws IOException {
		this.lineLength = 0;
		for (int next = this.in.read(); next != '\n'; next = this.in.read()) {
			Assert.state(next >= 0, "The server has closed the connection");
			if (next != '\r') {
				this.line[this.lineLength++] = (byte) next;
			}
		}
	}

	private int number(int from, int radix) {
		int value = 0;
		for (int at = from; at < this.lineLength && Character.digit(this.line[at], radix) >= 0; at++) {
			value = value * radix + Character.digit(this.line[at], radix);
		}
		return value;
	}

	/**
	 * Compares without regard to case.
	 * @param prefix in lower case
	 */
	private boolean startsWith(byte[] prefix) {
		boolean same = this.lineLength >= prefix.length;
		for (int at = 0; same && at < prefix.length; at++) {
			same = Character.toLowerCase(this.line[at]) == prefix[at];
		}
		return same;
	}

	private static byte[] bytes(String text) {
		return text.toLowerCase(Locale.ROOT).getBytes(StandardCharsets.US_ASCII);
	}

	@Override
	public String toString() {
		return this.status + (this.replayed ? ", replayed, " : ", not replayed, ")
				+ new String(this.body, 0, Math.min(this.bodyLength, 500), StandardCharsets.UTF_8);
	}

}
