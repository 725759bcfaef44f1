package dev.idempotent.testing;

import java.io.IOException;
import java.net.ServerSocket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports of servers that keep them while they are down.
 */
public final class Ports {

	/**
	 * These ports and the ports of a Redis Cluster's bus, 10,000 higher, are below what
	 * systems give to outgoing connections.
	 */
	static final int FIRST = 10_000;

	static final int LAST = 19_999;

	private static final int PER_PROCESS = 500;

	private static final Set<Integer> taken = ConcurrentHashMap.newKeySet();

	private Ports() {
	}

	/**
	 * Finds a free port, never the same twice. Test JVMs that run side by side look in
	 * different ranges.
	 */
	public static int free() {
		int first = FIRST + (int) (ProcessHandle.current().pid() * PER_PROCESS % (LAST + 1 - FIRST));
		while (true) {
			int port = first + ThreadLocalRandom.current().nextInt(PER_PROCESS);
			if (taken.add(port) && isFree(port)) {
				return port;
			}
		}
	}

	static boolean isFree(int port) {
		try {
			new ServerSocket(port).close();
			return true;
		}
		catch (IOException ex) {
			return false;
		}
	}

}
