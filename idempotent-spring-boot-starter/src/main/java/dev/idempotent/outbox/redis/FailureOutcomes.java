package dev.idempotent.outbox.redis;

import java.util.Set;

import dev.idempotent.lettuce.ErrorReply;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.Outcome.Scope;

/**
 * Whose fault it is that an event was not added.
 */
final class Refusal {

	/**
	 * What no event can help: the server's state, the Cluster's, or the application's
	 * credentials.
	 */
	private static final Set<String> OF_THE_SERVER = Set.of("LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "OOM",
			"NOREPLICAS", "MISCONF", "BUSY", "UNKILLABLE", "TRYAGAIN", "MOVED", "ASK", "NOAUTH", "WRONGPASS", "NOPERM");

	/**
	 * What an operator can forbid or a Cluster can lack for some keys alone.
	 */
	private static final Set<String> OF_THE_STREAM = Set.of("NOPERM", "TRYAGAIN", "MOVED", "ASK");

	private Refusal() {
	}

	/**
	 * Tells what became of an event.
	 * @param scope what is unavailable if the server does not serve it
	 */
	static Outcome of(Throwable failure, Scope scope) {
		String code = ErrorReply.codeOf(failure);
		if (code == null) {
			return unreachable(failure, scope);
		}
		if (OF_THE_SERVER.contains(code)) {
			return new Outcome.Unavailable("Redis takes no entries now (" + code + ")",
					OF_THE_STREAM.contains(code) ? Scope.DESTINATION : scope);
		}
		return new Outcome.Retry("Redis refused the entry (" + code + ")", null);
	}

	static Outcome unreachable(Throwable failure, Scope scope) {
		return new Outcome.Unavailable("Redis did not answer (" + failure.getClass().getSimpleName() + ")", scope);
	}

	static String codeOrClass(Throwable failure) {
		String code = ErrorReply.codeOf(failure);
		return (code != null) ? code : failure.getClass().getSimpleName();
	}

	/**
	 * Tells whether the connection can be used on: an error came as the reply, and
	 * another connection would be told the same.
	 */
	static boolean leavesUsable(Throwable failure) {
		return ErrorReply.codeOf(failure) != null && !ErrorReply.callsForReconnect(failure);
	}

}
