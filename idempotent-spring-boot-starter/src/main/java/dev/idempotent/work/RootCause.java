package dev.idempotent.work;

import java.nio.channels.ClosedChannelException;

/**
 * Names the reason of a failure in a log message without a stack trace.
 */
public final class RootCause {

	private static final int MAX_LENGTH = 200;

	private RootCause() {
	}

	/**
	 * Describes the innermost cause, such as {@code Connection refused}.
	 * @param failure any exception
	 * @return the first line of its message, because drivers add data in further ones; at
	 * most 200 characters. The simple name of its class if it has no message
	 */
	public static String of(Throwable failure) {
		Throwable root = failure;
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
