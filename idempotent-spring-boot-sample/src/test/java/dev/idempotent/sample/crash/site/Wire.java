package dev.idempotent.sample.crash.site;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

/**
 * The network in front of one server, which can stall and be cut.
 */
public final class Wire implements AutoCloseable {

	private final Set<Link> links = ConcurrentHashMap.newKeySet();

	private final ServerSocket listener;

	private final int target;

	private final AtomicReference<@Nullable String> lost = new AtomicReference<>();

	private boolean held;

	private Wire(ServerSocket listener, int target) {
		this.listener = listener;
		this.target = target;
	}

	/**
	 * Opens a way to a server, which need not be there yet.
	 * @param target the port of the server
	 */
	static Wire to(int target) {
		try {
			Wire wire = new Wire(new ServerSocket(Ports.free(), 0, InetAddress.getLoopbackAddress()), target);
			start(wire::accept);
			return wire;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	int port() {
		return this.listener.getLocalPort();
	}

	/**
	 * Keeps what either side sends, until {@link #resume()}. New connections are still
	 * accepted, as by a network that loses packets.
	 */
	public synchronized void hold() {
		this.held = true;
	}

	/**
	 * Lets everything through again, first what was kept.
	 */
	public synchronized void resume() {
		this.held = false;
		notifyAll();
	}

	/**
	 * Resets every connection.
	 */
	public void cut() {
		this.links.forEach(Link::reset);
	}

	/**
	 * Drops the next reply of its kind and resets its connection: the command has been
	 * executed without a confirmation.
	 * @param content what is in the reply
	 */
	public void loseReply(String content) {
		this.lost.set(content);
	}

	@Override
	public void close() {
		try {
			this.listener.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		cut();
		resume();
	}

	private void accept() throws IOException {
		while (true) {
			Link link = new Link(this.listener.accept());
			this.links.add(link);
			start(link::forwardRequests);
		}
	}

	private boolean isLost(String reply) {
		String content = this.lost.get();
		return content != null && reply.contains(content) && this.lost.compareAndSet(content, null);
	}

	private synchronized void awaitResume() throws InterruptedException {
		while (this.held) {
			wait();
		}
	}

	private static void start(Forwarding forwarding) {
		Thread thread = new Thread(() -> {
			try {
				forwarding.run();
			}
			catch (IOException | InterruptedException ex) {
				// One of the sockets was closed: that is how forwarding ends.
			}
		}, "wire");
		thread.setDaemon(true);
		thread.start();
	}

	private interface Forwarding {

		void run() throws IOException, InterruptedException;

	}

	/**
	 * A connection of a client, and the one to the server that belongs to it.
	 */
	private final class Link {

		private final Socket client;

		private final Socket server = new Socket();

		private final AtomicBoolean ended = new AtomicBoolean();

		Link(Socket client) {
			this.client = client;
		}

		void forwardRequests() throws IOException, InterruptedException {
			boolean orderly = false;
			try {
				awaitResume();
				this.client.setTcpNoDelay(true);
				this.server.setTcpNoDelay(true);
				this.server.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), Wire.this.target));
				start(this::forwardReplies);
				forward(this.client, this.server, false);
				orderly = true;
			}
			finally {
				end(orderly);
			}
		}

		private void forwardReplies() throws IOException, InterruptedException {
			boolean orderly = false;
			try {
				forward(this.server, this.client, true);
				orderly = true;
			}
			finally {
				end(orderly);
			}
		}

		private void forward(Socket from, Socket to, boolean replies) throws IOException, InterruptedException {
			InputStream input = from.getInputStream();
			byte[] buffer = new byte[8192];
			for (int length = input.read(buffer); length > 0; length = input.read(buffer)) {
				awaitResume();
				if (replies && isLost(new String(buffer, 0, length, StandardCharsets.ISO_8859_1))) {
					throw new IOException("A reply was lost");
				}
				to.getOutputStream().write(buffer, 0, length);
			}
			// The end wakes the reader, too.
			awaitResume();
			to.shutdownOutput();
		}

		/**
		 * A connection that was closed on one side is closed on the other: a server that
		 * has ended closes its connections, a network that is cut does not.
		 */
		private void end(boolean orderly) throws IOException {
			if (!orderly) {
				reset();
			}
			else if (this.ended.getAndSet(true)) {
				Wire.this.links.remove(this);
				this.client.close();
				this.server.close();
			}
		}

		void reset() {
			Wire.this.links.remove(this);
			try (this.client; this.server) {
				// A close with this set is a reset.
				this.client.setSoLinger(true, 0);
				this.server.setSoLinger(true, 0);
			}
			catch (IOException ex) {
				// It was closed before.
			}
		}

	}

}
