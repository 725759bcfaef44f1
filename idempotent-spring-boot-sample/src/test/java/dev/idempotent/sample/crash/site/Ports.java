package dev.idempotent.sample.crash.site;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports that remain reserved for their servers while these are down.
 */
final class Ports {

	static final String HOST = "127.0.0.1";

	/**
	 * Below what systems give to outgoing connections, which could take the port of a
	 * server that is down, or even connect to themselves.
	 */
	private static final int FIRST = 20_000;

	private static final int LAST = 32_000;

	private static final int CONNECT_MILLIS = 1_000;

	private static final Set<Integer> taken = ConcurrentHashMap.newKeySet();

	private Ports() {
	}

	/**
	 * Finds a free port, never the same twice.
	 */
	static int free() {
		while (true) {
			int port = ThreadLocalRandom.current().nextInt(FIRST, LAST);
			if (taken.add(port) && isFree(port)) {
				return port;
			}
		}
	}

	/**
	 * Whether connections to the port are accepted.
	 */
	static boolean answers(int port) {
		try (Socket socket = new Socket()) {
			socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), CONNECT_MILLIS);
			return true;
		}
		catch (IOException ex) {
			return false;
		}
	}

	private static boolean isFree(int port) {
		try {
			new ServerSocket(port, 0, InetAddress.getLoopbackAddress()).close();
			return true;
		}
		catch (IOException ex) {
			return false;
		}
	}

}
