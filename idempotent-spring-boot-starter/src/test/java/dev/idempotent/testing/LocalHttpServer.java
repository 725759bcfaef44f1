package dev.idempotent.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;

/**
 * An HTTP server on a free port of this machine, which handles each request on a thread
 * of its own. Closing an exchange without a response closes its connection.
 */
public final class LocalHttpServer implements AutoCloseable {

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private final HttpServer server;

	private LocalHttpServer(HttpHandler handler) {
		try {
			this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		this.server.setExecutor(this.threads);
		this.server.createContext("/", handler);
	}

	/**
	 * Starts a server.
	 * @param handler handles the requests to each path
	 */
	public static LocalHttpServer start(HttpHandler handler) {
		LocalHttpServer started = new LocalHttpServer(handler);
		started.server.start();
		return started;
	}

	public int port() {
		return this.server.getAddress().getPort();
	}

	/**
	 * Its URL, without a slash at the end.
	 */
	public String url() {
		return "http://127.0.0.1:" + port();
	}

	@Override
	public void close() {
		this.server.stop(0);
		this.threads.shutdownNow();
	}

}
