package dev.idempotent.outbox.redis;

import java.io.IOException;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import dev.idempotent.outbox.Outcome;
import org.jspecify.annotations.Nullable;

/**
 * Whose fault it is that an event was not added.
 */
final class Refusal {

	/**
	 * An error of the server begins with its code; no client's words do. What follows may
	 * be data.
	 */
	private static final Pattern CODE = Pattern.compile("-?([A-Z]{3,})(?: .*)?", Pattern.DOTALL);

	/**
	 * What no event can help: the server's state, the Cluster's, or the application's
	 * credentials.
	 */
	private static final Set<String> OF_THE_SERVER = Set.of("LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "OOM",
			"NOREPLICAS", "MISCONF", "BUSY", "TRYAGAIN", "MOVED", "ASK", "NOAUTH", "WRONGPASS");

	private Refusal() {
	}

	static Outcome of(Throwable failure) {
		String code = codeIn(failure);
		if (code == null) {
			return unreachable(failure);
		}
		if (OF_THE_SERVER.contains(code)) {
			return new Outcome.Unavailable("Redis takes no entries now (" + code + ")");
		}
		return new Outcome.Retry("Redis refused the entry (" + code + ")", null);
	}

	static Outcome unreachable(Throwable failure) {
		return new Outcome.Unavailable("Redis did not answer (" + failure.getClass().getSimpleName() + ")");
	}

	/**
	 * Tells whether the connection is at its place in the conversation: an error came as
	 * the reply.
	 */
	static boolean isReply(Throwable failure) {
		return codeIn(failure) != null;
	}

	private static @Nullable String codeIn(Throwable failure) {
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

}
