package dev.idempotent.benchmark.request;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

import org.springframework.util.Assert;

/**
 * A connection of one client, kept alive. It costs less than a client library, which
 * would hide what is measured.
 */
final class HttpConnection implements AutoCloseable {

	private static final String LENGTH = "content-length:";

	private final Socket socket;

	private final InputStream in;

	HttpConnection(int port) {
		try {
			this.socket = new Socket(InetAddress.getLoopbackAddress(), port);
			this.socket.setTcpNoDelay(true);
			this.in = new BufferedInputStream(this.socket.getInputStream());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Posts an order, and fails unless the status is 200.
	 */
	void post(String path, String key) {
		String body = "{\"item\":\"book\",\"amount\":1}";
		String request = "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
				+ "Idempotency-Key: " + key + "\r\nContent-Length: " + body.length() + "\r\n\r\n" + body;
		try {
			this.socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
			String status = line();
			Assert.state(status.contains(" 200"), status);
			int length = 0;
			for (String header = line(); !header.isEmpty(); header = line()) {
				if (header.toLowerCase(Locale.ROOT).startsWith(LENGTH)) {
					length = Integer.parseInt(header.substring(LENGTH.length()).strip());
				}
			}
			this.in.skipNBytes(length);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public void close() {
		try {
			this.socket.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private String line() throws IOException {
		StringBuilder line = new StringBuilder();
		for (int next = this.in.read(); next != '\n'; next = this.in.read()) {
			Assert.state(next >= 0, "The server has closed the connection");
			if (next != '\r') {
				line.append((char) next);
			}
		}
		return line.toString();
	}

}
