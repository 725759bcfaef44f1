package dev.idempotent.test;

import java.util.Map;
import java.util.Objects;

import dev.idempotent.idempotency.tool.McpToolBeanPostProcessor;
import dev.idempotent.idempotency.tool.ToolCall;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import org.assertj.core.api.Assertions;
import org.jspecify.annotations.Nullable;
import org.springframework.util.function.ThrowingSupplier;

/**
 * Assertions on tools of agents with {@code @Idempotent}.
 */
public final class ToolAssertions {

	private ToolAssertions() {
	}

	/**
	 * Calls a tool of this process twice, as a model that repeats itself does, and
	 * verifies that it runs once and is then replayed, with an equal result. The caller
	 * must be known, as in the application.
	 * @param <T> the type of the result
	 * @param call calls one tool on its bean, each time with the same arguments; the tool
	 * must call no other one, whose replay would count
	 * @return the result of the run
	 */
	public static <T extends @Nullable Object> T replaysCall(ThrowingSupplier<T> call) {
		ToolCall run = ToolCall.observed();
		T result = make(run, call);
		if (run.isReplayed()) {
			failAsReplay(result);
		}
		ToolCall repetition = ToolCall.observed();
		T repeated = make(repetition, call);
		if (!repetition.isReplayed()) {
			Assertions.fail("Expected the second call of the tool to be a replay of the first, but it ran: its method "
					+ "is not @Idempotent(from = KeySource.TOOL_CALL), it was not called on the bean, or what it was "
					+ "called with differs.%nFirst:  %s%nSecond: %s", result, repeated);
		}
		Assertions.assertThat(repeated).as("replay of %s", result).usingRecursiveComparison().isEqualTo(result);
		return result;
	}

	private static <T extends @Nullable Object> T make(ToolCall observed, ThrowingSupplier<T> call) {
		ToolCall outer = ToolCall.bind(observed);
		try {
			return call.get();
		}
		finally {
			ToolCall.bind(outer);
		}
	}

	/**
	 * Calls a tool of an MCP server twice, and verifies that it runs once and is then
	 * replayed, with the same content.
	 * @param client the client; each call has an id of its own
	 * @param request the call
	 * @return the result of the run
	 */
	public static CallToolResult replaysMcpCall(McpSyncClient client, CallToolRequest request) {
		CallToolResult run = send(client, request);
		if (isReplay(run)) {
			failAsReplay(run);
		}
		CallToolResult replay = send(client, request);
		if (!isReplay(replay)) {
			Assertions.fail("Expected the second call of the tool '%s' to be a replay of the first, but it has no "
					+ "dev.idempotent/replayed in _meta: its method is not @Idempotent(from = KeySource.TOOL_CALL), or "
					+ "what it was called with differs.%nFirst:  %s%nSecond: %s", request.name(), run, replay);
		}
		Assertions.assertThat(replay.structuredContent())
			.as("structured content of the replay")
			.isEqualTo(run.structuredContent());
		if (run.content() != null && !run.content().isEmpty()) {
			Assertions.assertThat(replay.content()).as("content of the replay").isEqualTo(run.content());
		}
		return run;
	}

	private static CallToolResult send(McpSyncClient client, CallToolRequest request) {
		CallToolResult result = client.callTool(request);
		if (Boolean.TRUE.equals(result.isError())) {
			Assertions.fail("The call of the tool '%s' has failed or was refused: %s", request.name(),
					result.content());
		}
		return result;
	}

	private static boolean isReplay(CallToolResult result) {
		return Boolean.TRUE
			.equals(Objects.requireNonNullElse(result.meta(), Map.of()).get(McpToolBeanPostProcessor.REPLAYED));
	}

	private static void failAsReplay(@Nullable Object result) {
		Assertions.fail("Expected the tool to run, but its first result is a replay: it was called in the same way "
				+ "before, so call it with other arguments or another key.%nResult: %s", result);
	}

}
