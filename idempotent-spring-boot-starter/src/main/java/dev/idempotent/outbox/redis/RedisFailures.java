package dev.idempotent.outbox.redis;

import java.util.Set;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.Outcome.Scope;
import dev.idempotent.redis.ErrorReply;
import dev.idempotent.concurrent.OutageLog;
import org.jspecify.annotations.Nullable;

/**
 * Maps failed commands to outcomes: is the event at fault, or is Redis unavailable?
 */
final class RedisFailures {

	/**
	 * Errors independent of the event: the state of the server or Cluster, or missing
	 * permissions.
	 */
	private static final Set<String> SERVER_ERRORS = Set.of("LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "OOM",
			"NOREPLICAS", "MISCONF", "BUSY", "UNKILLABLE", "TRYAGAIN", "MOVED", "ASK", "NOAUTH", "WRONGPASS", "NOPERM");

	/**
	 * The server errors that may affect only some keys.
	 */
	private static final Set<String> KEY_ERRORS = Set.of("NOPERM", "TRYAGAIN", "MOVED", "ASK");

	private RedisFailures() {
	}

	/**
	 * The outcome of an event whose command failed.
	 * @param scope what is unavailable if the server is
	 */
	static Outcome of(Throwable failure, Scope scope) {
		String code = ErrorReply.codeOf(failure);
		if (code == null) {
			return unreachable(failure, scope);
		}
		if (SERVER_ERRORS.contains(code)) {
			return new Outcome.Unavailable("Redis currently rejects writes (" + code + ")",
					KEY_ERRORS.contains(code) ? Scope.DESTINATION : scope);
		}
		return new Outcome.Retry("Redis rejected the event (" + code + ")", null);
	}

	/**
	 * The outcome of an event whose command has not failed: a client that queues commands
	 * returns without a reply.
	 */
	static Outcome replied(@Nullable Object reply) {
		return (reply != null) ? new Outcome.Delivered() : new Outcome.Retry("Redis did not confirm the event", null);
	}

	static Outcome unreachable(Throwable failure, Scope scope) {
		return new Outcome.Unavailable("Redis did not respond (" + OutageLog.reason(failure) + ")", scope);
	}

	static String codeOrClass(Throwable failure) {
		String code = ErrorReply.codeOf(failure);
		return (code != null) ? code : failure.getClass().getSimpleName();
	}

	/**
	 * Returns whether the connection can be reused: the server replied with an error that
	 * it would repeat on another connection.
	 */
	static boolean isConnectionReusable(Throwable failure) {
		return ErrorReply.codeOf(failure) != null && !ErrorReply.requiresReconnect(failure);
	}

}
