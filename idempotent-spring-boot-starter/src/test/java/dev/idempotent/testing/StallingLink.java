package dev.idempotent.testing;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A connection of the application through a {@link StallingProxy}, and the one to the
 * server that belongs to it.
 */
final class StallingLink {

	private final StallingProxy network;

	private final Socket client;

	private final Socket server = new Socket();

	private volatile boolean forgotten;

	StallingLink(StallingProxy network, Socket client) {
		this.network = network;
		this.client = client;
	}

	void forwardRequests() throws IOException, InterruptedException {
		try {
			this.server.connect(this.network.target());
			StallingProxy.start(this::forwardReplies);
			forward(this.client.getInputStream(), this::request);
		}
		finally {
			reset();
		}
	}

	/**
	 * Lets nothing through again and does not say so.
	 */
	void forget() {
		this.forgotten = true;
	}

	void reset() {
		this.network.remove(this);
		try (this.client; this.server) {
			// A close with this set is a reset.
			this.client.setSoLinger(true, 0);
		}
		catch (IOException ex) {
			// It was closed before.
		}
	}

	private void forwardReplies() throws IOException, InterruptedException {
		try {
			forward(this.server.getInputStream(), this::reply);
		}
		finally {
			reset();
		}
	}

	private void request(byte[] chunk) throws IOException {
		String answer = this.network.ownAnswer();
		if (answer != null) {
			this.client.getOutputStream().write(answer.getBytes(StandardCharsets.US_ASCII));
		}
		else {
			this.server.getOutputStream().write(chunk);
		}
	}

	private void reply(byte[] chunk) throws IOException {
		if (this.network.dropsThisReply()) {
			reset();
		}
		this.client.getOutputStream().write(chunk);
	}

	private void forward(InputStream from, Step step) throws IOException, InterruptedException {
		byte[] buffer = new byte[8192];
		for (int length = from.read(buffer); length > 0; length = from.read(buffer)) {
			this.network.awaitResume();
			if (!this.forgotten) {
				step.take(Arrays.copyOf(buffer, length));
			}
		}
	}

	private interface Step {

		void take(byte[] chunk) throws IOException, InterruptedException;

	}

}
