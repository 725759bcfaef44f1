package dev.idempotent.redis;

import java.io.IOException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * Interprets the error reply of a failed command by the message of the exception, which
 * works with any Redis client.
 */
public final class ErrorReply {

	/**
	 * An error of the server begins with its code, unlike the messages of clients. The
	 * rest may contain data. Redis 6 puts the place in front of the error of a command in
	 * a script.
	 */
	private static final Pattern CODE = Pattern.compile("(?:@user_script: ?\\d+: )?-?([A-Z]{3,})(?: .*)?",
			Pattern.DOTALL);

	/**
	 * The error of a command in a script for which its user lacks permission has no code
	 * of its own.
	 */
	private static final Pattern FORBIDDEN = Pattern
		.compile("The user executing the script can't|ACL failure in script");

	/**
	 * Redis 6 embeds the error of a command in a script in another message.
	 */
	private static final Pattern WRONG_SERVER = Pattern.compile("(?:^|\\s)-?(?:READONLY|MASTERDOWN|LOADING|CLUSTERDOWN|"
			+ "NOREPLICAS|MISCONF|BUSY|UNKILLABLE|NOAUTH|WRONGPASS|NOPERM)\\b");

	private ErrorReply() {
	}

	/**
	 * The error code of the server's reply.
	 * @param failure any exception
	 * @return such as {@code WRONGTYPE}, or {@code null} if the server did not reply
	 */
	public static @Nullable String codeOf(Throwable failure) {
		for (Throwable each = failure; each != null; each = each.getCause()) {
			if (each instanceof IOException) {
				return null;
			}
			String message = String.valueOf(each.getMessage());
			if (FORBIDDEN.matcher(message).find()) {
				return "NOPERM";
			}
			Matcher matcher = CODE.matcher(message);
			if (matcher.matches()) {
				return matcher.group(1);
			}
		}
		return null;
	}

	/**
	 * Returns whether a new connection may be accepted where this one is rejected: after
	 * a failover the same address may lead to another server, and a new connection
	 * authenticates again.
	 * @param failure any exception
	 * @return whether to replace the connection although it works
	 */
	public static boolean requiresReconnect(Throwable failure) {
		for (Throwable each = failure; each != null; each = each.getCause()) {
			if (WRONG_SERVER.matcher(String.valueOf(each.getMessage())).find()) {
				return true;
			}
		}
		return false;
	}

}
