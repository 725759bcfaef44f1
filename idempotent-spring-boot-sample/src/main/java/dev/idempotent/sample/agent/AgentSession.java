package dev.idempotent.sample.agent;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

import io.modelcontextprotocol.client.McpAsyncClient;
import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import org.jspecify.annotations.Nullable;

/**
 * A session of a customer's agent with an MCP server. Each call has an id of its own.
 */
final class AgentSession implements AutoCloseable {

	private static final Duration TIMEOUT = Duration.ofSeconds(30);

	private final int number;

	private final String customer;

	private final Duration patience;

	private final McpAsyncClient client;

	/**
	 * Connects to the shop.
	 * @param number the number of the session
	 * @param shop the address of the shop
	 * @param customer the customer for whom the agent acts
	 * @param chaos the header {@code X-Chaos}, or {@code null}
	 * @param patience how long the agent waits for an answer
	 */
	AgentSession(int number, String shop, String customer, @Nullable String chaos, Duration patience) {
		this.number = number;
		this.customer = customer;
		this.patience = patience;
		this.client = McpClient.async(HttpClientStreamableHttpTransport.builder(shop)
			.endpoint("/mcp")
			.openConnectionOnStartup(false)
			.httpRequestCustomizer((request, method, uri, body, context) -> {
				request.header("X-Customer", customer);
				if (chaos != null) {
					request.header("X-Chaos", chaos);
				}
			})
			.build()).requestTimeout(TIMEOUT).initializationTimeout(TIMEOUT).build();
		this.client.initialize().block();
	}

	AgentCall call(String tool, Map<String, Object> arguments, @Nullable String key) {
		Instant start = Instant.now();
		try {
			CallToolResult result = this.client
				.callTool(CallToolRequest.builder(tool)
					.arguments(arguments)
					.meta((key != null) ? Map.of("idempotencyKey", key) : Map.of())
					.build())
				.timeout(this.patience)
				.blockOptional()
				.orElseThrow();
			return AgentCall.since(start, this.number, this.customer, tool, arguments, key, outcomeOf(result),
					textOf(result));
		}
		catch (RuntimeException ex) {
			if (!isTimeout(ex)) {
				throw ex;
			}
			return AgentCall.since(start, this.number, this.customer, tool, arguments, key, AgentCall.LOST, "");
		}
	}

	private static String outcomeOf(CallToolResult result) {
		Map<String, Object> meta = Objects.requireNonNullElse(result.meta(), Map.of());
		if (Boolean.TRUE.equals(result.isError())) {
			return String.valueOf(meta.getOrDefault("dev.idempotent/refused", "failed"));
		}
		return Boolean.TRUE.equals(meta.get("dev.idempotent/replayed")) ? "replayed" : "ran";
	}

	private static String textOf(CallToolResult result) {
		return result.content()
			.stream()
			.filter(TextContent.class::isInstance)
			.map((content) -> ((TextContent) content).text())
			.collect(Collectors.joining());
	}

	private static boolean isTimeout(Throwable failure) {
		Throwable cause = failure;
		while (cause != null && !(cause instanceof TimeoutException)) {
			cause = cause.getCause();
		}
		return cause != null;
	}

	@Override
	public void close() {
		this.client.close();
	}

}
