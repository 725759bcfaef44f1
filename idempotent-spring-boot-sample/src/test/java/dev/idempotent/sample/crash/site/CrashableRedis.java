package dev.idempotent.sample.crash.site;

import java.util.List;

/**
 * The Redis of the shop: one server, or several with failover.
 */
public interface CrashableRedis extends AutoCloseable {

	/**
	 * The arguments with which a shop uses it.
	 */
	List<String> arguments();

	/**
	 * The port, past the wire, of the server that takes the writes.
	 */
	int port();

	/**
	 * Whether streams outlive every fault: what it has confirmed of them is still there.
	 */
	boolean keepsStreams();

	/**
	 * Removes every key, except streams if those are kept.
	 */
	void flush();

	/**
	 * Ends the server that takes the writes, gracefully or not.
	 * @param graceful whether it may finish what it does
	 */
	void stop(boolean graceful);

	/**
	 * Starts the stopped server without its data, except streams if those are kept.
	 */
	void start();

	/**
	 * Stalls the network in front of the server that takes the writes, until
	 * {@link #resume()}.
	 */
	void hold();

	void resume();

	/**
	 * Resets every connection.
	 */
	void cut();

	/**
	 * Loses the next reply and resets its connection.
	 */
	void loseReply();

	/**
	 * Whether another server takes over from one that has ended.
	 */
	boolean failsOver();

	/**
	 * Waits until everything that was started is ready.
	 */
	void awaitReady();

	@Override
	void close();

}
