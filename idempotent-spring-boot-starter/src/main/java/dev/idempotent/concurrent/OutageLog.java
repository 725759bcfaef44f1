package dev.idempotent.concurrent;

import java.nio.channels.ClosedChannelException;
import java.time.Duration;

import org.slf4j.Logger;

/**
 * Whether a server is known to be unavailable. Logs one line when an outage begins, with
 * its cause, and one when it ends, with its duration; the stack trace is logged at
 * {@code DEBUG}. Thread-safe.
 */
public final class OutageLog {

	private static final int MAX_LENGTH = 200;

	/**
	 * Causes can form a circle.
	 */
	private static final int DEEPEST = 20;

	private static final long LONG_SECONDS = 120;

	private final Logger logger;

	private final String unavailable;

	private final String available;

	private volatile boolean open;

	private long changed = System.nanoTime();

	/**
	 * Creates a log of a server that is available.
	 * @param logger the logger of the component that uses the server
	 * @param unavailable what is unavailable and what follows from it; the cause is added
	 * @param available what is available again; the duration is added
	 */
	public OutageLog(Logger logger, String unavailable, String available) {
		this.logger = logger;
		this.unavailable = unavailable;
		this.available = available;
	}

	/**
	 * Returns whether the server was unavailable at the last attempt.
	 * @return {@code true} during an outage
	 */
	public boolean isOpen() {
		return this.open;
	}

	/**
	 * Records a failed attempt.
	 * @param start the {@link System#nanoTime()} at which it started: one that started
	 * before the last outage ended is ignored
	 * @param cause the failure
	 */
	public void failed(long start, Throwable cause) {
		if (!this.open && open(start)) {
			this.logger.warn("{}: {}", this.unavailable, reason(cause));
			this.logger.debug("The stack trace of the failure above", cause);
		}
	}

	/**
	 * Records a successful attempt.
	 * @param start the {@link System#nanoTime()} at which it started: one that started
	 * before the outage began is ignored
	 */
	public void succeeded(long start) {
		if (this.open) {
			Duration lasted = close(start);
			if (!lasted.isNegative()) {
				this.logger.info("{}, after {}", this.available, describe(lasted));
			}
		}
	}

	/**
	 * Describes how long an outage lasted.
	 * @param lasted its duration
	 * @return such as {@code 20 s}
	 */
	public static String describe(Duration lasted) {
		if (lasted.toSeconds() == 0) {
			return lasted.toMillis() + " ms";
		}
		return (lasted.toSeconds() < LONG_SECONDS) ? lasted.toSeconds() + " s" : lasted.toMinutes() + " min";
	}

	private synchronized boolean open(long start) {
		if (this.open || start - this.changed < 0) {
			return false;
		}
		this.changed = System.nanoTime();
		this.open = true;
		return true;
	}

	/**
	 * Returns how long the outage lasted, or a negative duration if it has not ended.
	 */
	private synchronized Duration close(long start) {
		if (!this.open || start - this.changed < 0) {
			return Duration.ofNanos(-1);
		}
		Duration lasted = Duration.ofNanos(System.nanoTime() - this.changed);
		this.changed = System.nanoTime();
		this.open = false;
		return lasted;
	}

	/**
	 * Returns a failure that can be logged with its stack trace. A failure whose {@code
	 * getMessage()} throws must not prevent its own handling.
	 * @param failure any exception
	 * @return the failure, or a substitute if its message or the message of a cause
	 * throws
	 */
	public static Throwable printable(Throwable failure) {
		try {
			Throwable each = failure;
			for (int depth = 0; each != null && depth < DEEPEST; depth++) {
				String unused = each.toString();
				each = each.getCause();
			}
			return failure;
		}
		catch (RuntimeException | Error ex) {
			Throwable substitute = new IllegalStateException(failure.getClass().getName() + ", whose message throws");
			substitute.setStackTrace(failure.getStackTrace());
			return substitute;
		}
	}

	/**
	 * Names the reason of a failure in a log message without a stack trace: the innermost
	 * cause, such as {@code Connection refused}.
	 * @param failure any exception
	 * @return the first line of its message, because drivers add data in further ones; at
	 * most 200 characters. The simple name of its class if it has no message
	 */
	public static String reason(Throwable failure) {
		Throwable root = printable(failure);
		while (root.getCause() != null) {
			root = root.getCause();
		}
		if (root instanceof ClosedChannelException) {
			return "Connection closed";
		}
		String line = (root.getMessage() != null) ? root.getMessage().strip().lines().findFirst().orElse("") : "";
		if (line.isEmpty()) {
			return root.getClass().getSimpleName();
		}
		return (line.length() <= MAX_LENGTH) ? line : line.substring(0, MAX_LENGTH);
	}

}
