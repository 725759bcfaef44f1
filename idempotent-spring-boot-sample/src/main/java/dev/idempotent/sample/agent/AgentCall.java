package dev.idempotent.sample.agent;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * A call of a tool that the agent has made.
 *
 * @param session the number of the MCP session
 * @param customer the customer for whom the agent acts
 * @param tool the name of the tool
 * @param arguments the arguments of the tool
 * @param key the idempotency key that the agent has sent, or {@code null}
 * @param outcome {@code ran}, {@code replayed}, {@code failed}, {@code lost} without an
 * answer in time, or the reason of a refusal, such as {@code in-progress}
 * @param text what the agent has read; empty without an answer
 * @param sentAt when the call was sent
 * @param millis how long it took
 */
record AgentCall(int session, String customer, String tool, Map<String, Object> arguments, @Nullable String key,
		String outcome, String text, Instant sentAt, long millis) {

	static final String LOST = "lost";

	static final String IN_PROGRESS = "in-progress";

	static AgentCall since(Instant start, int session, String customer, String tool, Map<String, Object> arguments,
			@Nullable String key, String outcome, String text) {
		return new AgentCall(session, customer, tool, arguments, key, outcome, text, start,
				Duration.between(start, Instant.now()).toMillis());
	}

	/**
	 * Returns whether the call must be repeated to get its result.
	 */
	boolean isOpen() {
		return this.outcome.equals(LOST) || this.outcome.equals(IN_PROGRESS);
	}

}
