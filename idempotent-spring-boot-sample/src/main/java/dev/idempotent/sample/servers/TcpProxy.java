package dev.idempotent.sample.servers;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Forwards TCP connections to a server on the loopback address. While it is cut, new
 * connections are refused.
 */
final class TcpProxy implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(TcpProxy.class);

	private static final int BACKLOG = 128;

	private final Set<Link> links = ConcurrentHashMap.newKeySet();

	private final InetSocketAddress address;

	private final int target;

	private @Nullable Listener listener;

	private @Nullable Socket reservation;

	private TcpProxy(ServerSocket socket, int target) {
		this.address = new InetSocketAddress(socket.getInetAddress(), socket.getLocalPort());
		this.target = target;
		this.listener = listen(socket);
	}

	/**
	 * Listens on a free port.
	 * @param target the port of the server
	 */
	static TcpProxy open(int target) throws IOException {
		return new TcpProxy(new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress()), target);
	}

	int port() {
		return this.address.getPort();
	}

	synchronized boolean isOpen() {
		return this.listener != null;
	}

	/**
	 * Resets all connections and refuses new ones. Does nothing if it is cut already.
	 */
	synchronized void cut() throws IOException {
		if (this.listener != null) {
			stopListening();
			// A bound socket that does not listen keeps the port from other programs.
			Socket socket = new Socket();
			this.reservation = socket;
			socket.setReuseAddress(true);
			socket.bind(this.address);
		}
	}

	/**
	 * Accepts connections again, on the same port. Does nothing if it is not cut.
	 */
	synchronized void restore() throws IOException {
		if (this.listener == null) {
			releasePort();
			this.listener = listen(new ServerSocket(port(), BACKLOG, this.address.getAddress()));
		}
	}

	@Override
	public synchronized void close() throws IOException {
		stopListening();
		releasePort();
	}

	private Listener listen(ServerSocket socket) {
		return new Listener(socket, start(() -> accept(socket)));
	}

	private void accept(ServerSocket socket) throws IOException {
		while (true) {
			Link link = new Link(socket.accept());
			this.links.add(link);
			start(link::forwardRequests);
		}
	}

	private void stopListening() throws IOException {
		Listener open = this.listener;
		if (open != null) {
			this.listener = null;
			open.close();
			this.links.forEach(Link::reset);
		}
	}

	private void releasePort() throws IOException {
		Socket socket = this.reservation;
		if (socket != null) {
			this.reservation = null;
			socket.close();
		}
	}

	private static Thread start(Task task) {
		Thread thread = new Thread(() -> {
			try {
				task.run();
			}
			catch (IOException ex) {
				logger.debug("A connection has ended", ex);
			}
		}, "tcp-proxy");
		thread.setDaemon(true);
		thread.start();
		return thread;
	}

	/**
	 * A listening socket, and the thread that accepts its connections.
	 */
	private record Listener(ServerSocket socket, Thread acceptor) {

		/**
		 * Waits for the thread too: until it ends, the port is in use, and another
		 * connection may come.
		 */
		void close() throws IOException {
			this.socket.close();
			try {
				this.acceptor.join();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				throw new InterruptedIOException("Interrupted while the proxy stopped listening");
			}
		}

	}

	private interface Task {

		void run() throws IOException;

	}

	/**
	 * A connection of a client, and the one to the server that belongs to it. When one
	 * ends, so does the other.
	 */
	private final class Link {

		private final Socket client;

		private final Socket server = new Socket();

		Link(Socket client) {
			this.client = client;
		}

		void forwardRequests() throws IOException {
			try {
				this.client.setTcpNoDelay(true);
				this.server.setTcpNoDelay(true);
				this.server.connect(new InetSocketAddress(TcpProxy.this.address.getAddress(), TcpProxy.this.target));
				start(this::forwardReplies);
				this.client.getInputStream().transferTo(this.server.getOutputStream());
			}
			finally {
				end();
			}
		}

		private void forwardReplies() throws IOException {
			try {
				this.server.getInputStream().transferTo(this.client.getOutputStream());
			}
			finally {
				end();
			}
		}

		void reset() {
			try {
				// With this option, a close sends a reset.
				this.client.setSoLinger(true, 0);
				end();
			}
			catch (IOException ex) {
				logger.debug("The connection has ended before", ex);
			}
		}

		private void end() throws IOException {
			TcpProxy.this.links.remove(this);
			try (this.client; this.server) {
				logger.trace("The connection ends");
			}
		}

	}

}
