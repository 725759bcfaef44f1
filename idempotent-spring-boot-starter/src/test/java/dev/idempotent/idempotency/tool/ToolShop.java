package dev.idempotent.idempotency.tool;

import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * An MCP server over streamable HTTP on a free port of this machine, and its clients.
 */
final class ToolShop implements AutoCloseable {

	private final ConfigurableApplicationContext context;

	private final List<McpSyncClient> clients = new ArrayList<>();

	private ToolShop(ConfigurableApplicationContext context) {
		this.context = context;
	}

	/**
	 * Starts a server.
	 * @param source its configuration
	 * @param properties further properties, as {@code name=value}
	 */
	static ToolShop start(Class<?> source, String... properties) {
		List<String> arguments = new ArrayList<>(List.of("--server.port=0", "--server.address=127.0.0.1",
				"--idempotent.namespace=shop", "--spring.main.banner-mode=off", "--test.with-tools=true",
				"--spring.datasource.generate-unique-name=true", "--server.shutdown=immediate"));
		List.of(properties).forEach((property) -> arguments.add("--" + property));
		SpringApplication application = new SpringApplication(source);
		application.setWebApplicationType(WebApplicationType.SERVLET);
		application.setDefaultProperties(Map.of("spring.ai.mcp.server.protocol", "STREAMABLE"));
		return new ToolShop(application.run(arguments.toArray(String[]::new)));
	}

	<T> T bean(Class<T> type) {
		return this.context.getBean(type);
	}

	/**
	 * Opens a session.
	 * @param user the caller, or an empty text for none
	 */
	McpSyncClient connect(String user) {
		return connect(user, Map.of());
	}

	/**
	 * Opens a session.
	 * @param user the caller, or an empty text for none
	 * @param headers further headers of each request
	 */
	synchronized McpSyncClient connect(String user, Map<String, String> headers) {
		String port = this.context.getEnvironment().getRequiredProperty("local.server.port");
		McpSyncClient client = client("http://127.0.0.1:" + port, user, headers);
		client.initialize();
		this.clients.add(client);
		return client;
	}

	/**
	 * Opens a session with a server of another process.
	 * @param address its address
	 * @param user the caller
	 */
	static McpSyncClient connectTo(URI address, String user) {
		McpSyncClient client = client(address.toString(), user, Map.of());
		client.initialize();
		return client;
	}

	private static McpSyncClient client(String address, String user, Map<String, String> headers) {
		return McpClient.sync(HttpClientStreamableHttpTransport.builder(address)
			.endpoint("/mcp")
			.httpRequestCustomizer((request, method, uri, body, context) -> {
				headers.forEach(request::header);
				if (!user.isEmpty()) {
					request.header("X-User", user);
				}
			})
			.build()).requestTimeout(Duration.ofSeconds(30)).build();
	}

	static CallToolResult call(McpSyncClient client, String tool, Map<String, Object> arguments) {
		return call(client, tool, arguments, Map.of());
	}

	static CallToolResult call(McpSyncClient client, String tool, Map<String, Object> arguments,
			Map<String, Object> meta) {
		return client.callTool(CallToolRequest.builder(tool).arguments(arguments).meta(meta).build());
	}

	static String textOf(CallToolResult result) {
		return ((TextContent) result.content().get(0)).text();
	}

	static boolean isReplay(CallToolResult result) {
		return result.meta() != null && Boolean.TRUE.equals(result.meta().get(McpToolBeanPostProcessor.REPLAYED));
	}

	static @Nullable Object refusal(CallToolResult result) {
		return (result.meta() != null) ? result.meta().get(McpToolBeanPostProcessor.REFUSED) : null;
	}

	@Override
	public void close() {
		this.clients.forEach(McpSyncClient::close);
		this.context.close();
	}

}
