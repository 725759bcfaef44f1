package dev.idempotent.benchmark.http.load;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;

/**
 * A connection of one client, kept alive. It costs less than a client library, which
 * would take processor time from what is measured.
 */
final class Connection implements AutoCloseable {

	private final Socket socket;

	private final ResponseReader responses;

	Connection(int port) {
		try {
			this.socket = new Socket(InetAddress.getLoopbackAddress(), port);
			this.socket.setTcpNoDelay(true);
			this.responses = new ResponseReader(this.socket.getInputStream());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Sends a request and waits for the whole response.
	 * @return the response, until the next request is sent
	 */
	ResponseReader exchange(byte[] request) {
		try {
			this.socket.getOutputStream().write(request);
			this.responses.read();
			return this.responses;
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

}
