package dev.idempotent.idempotency.tool;

import java.util.Map;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.idempotency.ToolRefusal.Reason;
import dev.idempotent.idempotency.tool.Purchases.Receipt;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.ai.mcp.annotation.McpTool;
import org.springframework.ai.tool.ToolCallbackProvider;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.method.MethodToolCallbackProvider;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tools of an MCP server without sessions.
 */
class StatelessToolsTests {

	private static ToolShop shop;

	@BeforeAll
	static void start() {
		shop = ToolShop.start(Application.class, "spring.ai.mcp.server.protocol=STATELESS");
	}

	@AfterAll
	static void stop() {
		shop.close();
	}

	@ParameterizedTest
	@ValueSource(strings = { "buy", "buy-with-tool" })
	void answersARepeatedCallWithTheResultOfTheFirst(String tool) {
		long before = bought(tool);
		CallToolResult first = call("alice", tool, 1, Map.of());
		CallToolResult repeated = call("alice", tool, 1, Map.of());
		assertThat(ToolShop.isReplay(first)).isFalse();
		assertThat(ToolShop.isReplay(repeated)).isTrue();
		assertThat(ToolShop.textOf(repeated)).isEqualTo(ToolShop.textOf(first));
		assertThat(ToolShop.isReplay(call("bob", tool, 1, Map.of()))).isFalse();
		assertThat(bought(tool)).isEqualTo(before + 2);
	}

	@ParameterizedTest
	@ValueSource(strings = { "buy", "buy-with-tool" })
	void takesTheKeyOfTheClient(String tool) {
		Map<String, Object> key = Map.of("idempotencyKey", "key-" + tool);
		assertThat(ToolShop.isReplay(call("carol", tool, 1, key))).isFalse();
		assertThat(ToolShop.isReplay(call("carol", tool, 1, key))).isTrue();
		CallToolResult refused = call("carol", tool, 2, key);
		assertThat(refused.isError()).isTrue();
		assertThat(ToolShop.refusal(refused)).isEqualTo("other-arguments");
		assertThat(ToolShop.textOf(refused)).isEqualTo(Reason.OTHER_ARGUMENTS.sentence());
	}

	@Test
	void refusesACallOfAnUnknownCaller() {
		assertThat(ToolShop.refusal(call("", "buy", 1, Map.of()))).isEqualTo("caller-unknown");
	}

	private static CallToolResult call(String user, String tool, int amount, Map<String, Object> meta) {
		McpSyncClient client = shop.connect(user);
		return ToolShop.call(client, tool, Map.of("item", tool, "amount", amount), meta);
	}

	private static long bought(String item) {
		return shop.bean(Purchases.class).items().stream().filter(item::equals).count();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Purchases.Shop.class, Tools.class, ToolOfSpring.class })
	static class Application {

		@Bean
		ToolCallbackProvider callbacks(ToolOfSpring tool) {
			return MethodToolCallbackProvider.builder().toolObjects(tool).build();
		}

	}

	static class Tools {

		private final Purchases purchases;

		Tools(Purchases purchases) {
			this.purchases = purchases;
		}

		@McpTool
		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "buy", guarantee = Guarantee.TRANSACTION)
		Receipt buy(String item, int amount) {
			return this.purchases.buy(item, amount);
		}

	}

	static class ToolOfSpring {

		private final Purchases purchases;

		ToolOfSpring(Purchases purchases) {
			this.purchases = purchases;
		}

		@Tool(name = "buy-with-tool")
		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "buy-with-tool", guarantee = Guarantee.LEASE)
		Receipt buy(String item, int amount) {
			return this.purchases.buy(item, amount);
		}

	}

}
