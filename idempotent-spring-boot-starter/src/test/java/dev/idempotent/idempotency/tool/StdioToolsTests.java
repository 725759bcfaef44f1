package dev.idempotent.idempotency.tool;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.idempotency.ToolCallRefusedException;
import dev.idempotent.idempotency.ToolRefusal.Reason;
import dev.idempotent.idempotency.tool.Purchases.Receipt;
import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.server.transport.StdioServerTransportProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.ai.mcp.annotation.McpTool;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tools of an MCP server that has one client, over its standard input and output.
 */
class StdioToolsTests {

	@Test
	@Timeout(60)
	void answersARepeatedCallOfTheOnlyClient() throws IOException {
		PipedOutputStream requests = new PipedOutputStream();
		PipedInputStream responses = new PipedInputStream();
		Application.input = new PipedInputStream(requests);
		Application.output = new PipedOutputStream(responses);
		SpringApplication application = new SpringApplication(Application.class);
		application.setWebApplicationType(WebApplicationType.NONE);
		try (ConfigurableApplicationContext context = application.run("--spring.ai.mcp.server.stdio=true",
				"--test.with-tools=true", "--idempotent.namespace=shop", "--spring.main.banner-mode=off",
				"--spring.datasource.generate-unique-name=true");
				PrintStream client = new PrintStream(requests, true, StandardCharsets.UTF_8);
				BufferedReader server = new BufferedReader(new InputStreamReader(responses, StandardCharsets.UTF_8))) {
			client.println(
					"""
							{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}""");
			server.readLine();
			client.println("""
					{"jsonrpc":"2.0","method":"notifications/initialized"}""");
			client.println(call(2));
			assertThat(server.readLine()).contains("tea").doesNotContain(McpToolBeanPostProcessor.REPLAYED);
			client.println(call(3));
			assertThat(server.readLine()).contains("tea").contains(McpToolBeanPostProcessor.REPLAYED);
			assertThat(context.getBean(Purchases.class).items()).containsExactly("tea");
		}
	}

	@Test
	void refusesACallThatTheOnlyClientHasNotMade() throws IOException {
		Application.input = new PipedInputStream(new PipedOutputStream());
		Application.output = new PipedOutputStream(new PipedInputStream());
		SpringApplication application = new SpringApplication(Application.class);
		application.setWebApplicationType(WebApplicationType.NONE);
		try (ConfigurableApplicationContext context = application.run("--spring.ai.mcp.server.stdio=true",
				"--test.with-tools=true", "--idempotent.namespace=shop", "--spring.main.banner-mode=off",
				"--spring.datasource.generate-unique-name=true")) {
			Tools tools = context.getBean(Tools.class);
			assertThatExceptionOfType(ToolCallRefusedException.class).isThrownBy(() -> tools.buy("tea"))
				.satisfies((ex) -> assertThat(ex.getRefusal().reason()).isEqualTo(Reason.CALLER_UNKNOWN));
			ToolCall outer = ToolCall.bind(ToolCall.ofClient("buy", List.of()));
			RequestContextHolder.setRequestAttributes(new ServletRequestAttributes(new MockHttpServletRequest()));
			try {
				assertThatExceptionOfType(ToolCallRefusedException.class).isThrownBy(() -> tools.buy("tea"))
					.satisfies((ex) -> assertThat(ex.getRefusal().reason()).isEqualTo(Reason.CALLER_UNKNOWN));
			}
			finally {
				RequestContextHolder.resetRequestAttributes();
				ToolCall.bind(outer);
			}
			assertThat(context.getBean(Purchases.class).items()).isEmpty();
		}
	}

	private static String call(int id) {
		return """
				{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"buy","arguments":{"item":"tea"}}}"""
			.formatted(id);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Purchases.Shop.class, Tools.class })
	static class Application {

		private static PipedInputStream input = new PipedInputStream();

		private static PipedOutputStream output = new PipedOutputStream();

		@Bean
		StdioServerTransportProvider transport() {
			return new StdioServerTransportProvider(McpJsonDefaults.getMapper(), input, output);
		}

	}

	static class Tools {

		private final Purchases purchases;

		Tools(Purchases purchases) {
			this.purchases = purchases;
		}

		@McpTool
		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "buy", guarantee = Guarantee.TRANSACTION)
		Receipt buy(String item) {
			return this.purchases.buy(item, 1);
		}

	}

}
