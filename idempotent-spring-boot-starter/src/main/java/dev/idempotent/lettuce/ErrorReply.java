package dev.idempotent.lettuce;

import java.io.IOException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * What a failed command says of the server that it was sent to. Knows any client's
 * exceptions, by their messages.
 */
public final class ErrorReply {

	/**
	 * An error of the server begins with its code; no client's words do. What follows may
	 * be data.
	 */
	private static final Pattern CODE = Pattern.compile("-?([A-Z]{3,})(?: .*)?", Pattern.DOTALL);

	/**
	 * Redis 6 repeats the error of a command in a script behind words of its own.
	 */
	private static final Pattern UNFIT = Pattern.compile("(?:^|\\s)-?(?:READONLY|MASTERDOWN|LOADING|CLUSTERDOWN|"
			+ "NOREPLICAS|MISCONF|BUSY|UNKILLABLE|NOAUTH|WRONGPASS|NOPERM)\\b");

	private ErrorReply() {
	}

	/**
	 * The code with which the server has refused a command.
	 * @param failure any
	 * @return such as {@code WRONGTYPE}, or {@code null} if it was not an error reply
	 */
	public static @Nullable String codeOf(Throwable failure) {
		for (Throwable each = failure; each != null; each = each.getCause()) {
			if (each instanceof IOException) {
				return null;
			}
			Matcher matcher = CODE.matcher(String.valueOf(each.getMessage()));
			if (matcher.matches()) {
				return matcher.group(1);
			}
		}
		return null;
	}

	/**
	 * Tells whether a new connection may be served where this one is refused: after a
	 * failover the same address leads to another server, and a new connection logs in
	 * anew.
	 * @param failure any
	 * @return whether to replace the connection although it works
	 */
	public static boolean callsForReconnect(Throwable failure) {
		for (Throwable each = failure; each != null; each = each.getCause()) {
			if (UNFIT.matcher(String.valueOf(each.getMessage())).find()) {
				return true;
			}
		}
		return false;
	}

}
