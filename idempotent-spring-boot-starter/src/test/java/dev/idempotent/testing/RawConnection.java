package dev.idempotent.testing;

import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;

/**
 * A connection to an application for requests that no HTTP client would send.
 */
public final class RawConnection implements AutoCloseable {

	private static final int ANSWER_TIMEOUT_MILLIS = 60_000;

	private final Socket socket;

	private RawConnection(Socket socket) {
		this.socket = socket;
	}

	public static RawConnection to(WebApplication application) throws IOException {
		return to(application.request("/").build().uri());
	}

	public static RawConnection to(RunningApplication application) throws IOException {
		return to(application.request("/").build().uri());
	}

	private static RawConnection to(URI address) throws IOException {
		Socket socket = new Socket(address.getHost(), address.getPort());
		socket.setSoTimeout(ANSWER_TIMEOUT_MILLIS);
		return new RawConnection(socket);
	}

	/**
	 * Sends text, each character as one byte.
	 */
	public RawConnection send(String text) throws IOException {
		this.socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
		return this;
	}

	/**
	 * Lets the server see the end of what this client has to say.
	 */
	public RawConnection end() throws IOException {
		this.socket.shutdownOutput();
		return this;
	}

	/**
	 * Reads until the server closes the connection.
	 * @return all that it sent, each byte as one character
	 */
	public String answer() throws IOException {
		return new String(this.socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
	}

	@Override
	public void close() throws IOException {
		this.socket.close();
	}

}
