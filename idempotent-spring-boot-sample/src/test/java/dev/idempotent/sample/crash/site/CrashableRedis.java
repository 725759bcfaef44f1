package dev.idempotent.sample.crash.site;

import java.util.List;

/**
 * The Redis of the shop: one server, or several that stand in for each other.
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
	 * Removes every key, but for streams if those are kept.
	 */
	void flush();

	/**
	 * Ends the server that takes the writes in good order, or without a word.
	 * @param graceful whether it may finish what it does
	 */
	void stop(boolean graceful);

	/**
	 * Starts what was stopped, without what it knew, but for streams if those are kept.
	 */
	void start();

	/**
	 * Lets the network before the server that takes the writes fall silent, until
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
	 * Whether another server takes over from one that is gone.
	 */
	boolean failsOver();

	/**
	 * Waits until everything that was started is of use.
	 */
	void awaitReady();

	@Override
	void close();

}
