package dev.idempotent.idempotency.tool;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.idempotency.ToolRefusal.Reason;
import dev.idempotent.idempotency.tool.Purchases.Receipt;
import dev.idempotent.test.ToolAssertions;
import dev.idempotent.testing.Gate;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.server.McpSyncServerExchange;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.ai.mcp.annotation.McpMeta;
import org.springframework.ai.mcp.annotation.McpProgressToken;
import org.springframework.ai.mcp.annotation.McpTool;
import org.springframework.ai.mcp.annotation.McpToolParam;
import org.springframework.ai.mcp.annotation.context.McpSyncRequestContext;
import org.springframework.ai.tool.ToolCallbackProvider;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.method.MethodToolCallbackProvider;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tools of an MCP server, called by a real client over streamable HTTP.
 */
class McpToolsTests {

	private static final String LEASED = "buy-leased";

	private static final String RECORDED = "buy-recorded";

	private static final String OF_SPRING = "buy-with-tool";

	private static final String STRUCTURED = "buy-structured";

	private static ToolShop shop;

	@BeforeAll
	static void start() {
		shop = ToolShop.start(Application.class);
	}

	@AfterAll
	static void stop() {
		shop.close();
	}

	@ParameterizedTest
	@ValueSource(strings = { LEASED, RECORDED, OF_SPRING, STRUCTURED })
	void answersARepeatedCallWithTheResultOfTheFirst(String tool) {
		McpSyncClient client = shop.connect("alice");
		CallToolResult first = ToolShop.call(client, tool, order("tea " + tool, 2));
		CallToolResult repeated = ToolShop.call(client, tool, order("tea " + tool, 2));
		assertThat(ToolShop.textOf(repeated)).isEqualTo(ToolShop.textOf(first)).contains("tea");
		assertThat(repeated.structuredContent()).isEqualTo(first.structuredContent());
		assertThat(ToolShop.isReplay(first)).isFalse();
		assertThat(ToolShop.isReplay(repeated)).isTrue();
		assertThat(repeated.isError()).isNotEqualTo(true);
		assertThat(bought("tea " + tool)).isOne();
	}

	@ParameterizedTest
	@ValueSource(strings = { LEASED, RECORDED })
	void recognizesACallerAfterANewConnection(String tool) {
		ToolShop.call(shop.connect("alice"), tool, order("milk " + tool, 1));
		CallToolResult repeated = ToolShop.call(shop.connect("alice"), tool, order("milk " + tool, 1));
		assertThat(ToolShop.isReplay(repeated)).isTrue();
		assertThat(bought("milk " + tool)).isOne();
	}

	@Test
	void runsCallsWithOtherArguments() {
		McpSyncClient client = shop.connect("alice");
		ToolShop.call(client, LEASED, order("bread", 1));
		ToolShop.call(client, LEASED, order("bread", 2));
		assertThat(bought("bread")).isEqualTo(2);
	}

	@ParameterizedTest
	@ValueSource(strings = { LEASED, RECORDED, OF_SPRING })
	void runsEqualCallsOfTwoCallers(String tool) {
		CallToolResult first = ToolShop.call(shop.connect("alice"), tool, order("salt " + tool, 1));
		CallToolResult other = ToolShop.call(shop.connect("bob"), tool, order("salt " + tool, 1));
		assertThat(ToolShop.isReplay(other)).isFalse();
		assertThat(ToolShop.textOf(other)).isNotEqualTo(ToolShop.textOf(first));
		assertThat(bought("salt " + tool)).isEqualTo(2);
	}

	@ParameterizedTest
	@CsvSource({ "X-Forwarded-Host, acme.example.com, globex.example.com", "X-Forwarded-Prefix, /acme, /globex" })
	void runsEqualCallsToTwoAddresses(String header, String one, String two) {
		Map<String, Object> order = order("oil " + header, 1);
		ToolShop.call(shop.connect("alice", Map.of(header, one)), LEASED, order);
		CallToolResult other = ToolShop.call(shop.connect("alice", Map.of(header, two)), LEASED, order);
		CallToolResult repeated = ToolShop.call(shop.connect("alice", Map.of(header, one)), LEASED, order);
		assertThat(ToolShop.isReplay(other)).isFalse();
		assertThat(ToolShop.isReplay(repeated)).isTrue();
		assertThat(bought("oil " + header)).isEqualTo(2);
	}

	/**
	 * As with the key of a request: it belongs to the caller, wherever it is sent.
	 */
	@Test
	void takesAKeyForOneOperationOnTwoHosts() {
		Map<String, Object> key = Map.of("idempotencyKey", "wax-1");
		McpSyncClient acme = shop.connect("alice", Map.of("X-Forwarded-Host", "acme.example.com"));
		McpSyncClient globex = shop.connect("alice", Map.of("X-Forwarded-Host", "globex.example.com"));
		ToolShop.call(acme, LEASED, order("wax", 1), key);
		assertThat(ToolShop.isReplay(ToolShop.call(globex, LEASED, order("wax", 1), key))).isTrue();
		assertRefused(ToolShop.call(globex, LEASED, order("wax", 2), key), Reason.OTHER_ARGUMENTS, "other-arguments");
		assertThat(bought("wax")).isOne();
	}

	/**
	 * Spring AI adds the message of the root cause to the message of an exception.
	 */
	@Test
	void tellsNothingButTheSentenceIfTheWorkOfAToolWasRefused() {
		McpSyncClient client = shop.connect("alice");
		assertThat(ToolShop.call(client, "buy-seat", order("seat 1", 1)).isError()).isNotEqualTo(true);
		assertRefused(ToolShop.call(client, "buy-seat", order("seat 2", 1)), Reason.OTHER_ARGUMENTS, "other-arguments");
		CallToolResult own = ToolShop.call(client, "buy-seat", order("balcony", 1));
		assertThat(ToolShop.textOf(own)).startsWith("No seat");
		assertThat(ToolShop.refusal(own)).isNull();
		assertThat(bought("seat 2") + bought("balcony")).isZero();
	}

	@Test
	void recognizesAnAddressInAnotherSpelling() {
		ToolShop.call(shop.connect("alice", Map.of("X-Forwarded-Prefix", "/acme")), LEASED, order("ale", 1));
		CallToolResult repeated = ToolShop.call(shop.connect("alice", Map.of("X-Forwarded-Prefix", "/%61cme")), LEASED,
				order("ale", 1));
		assertThat(ToolShop.isReplay(repeated)).isTrue();
		assertThat(bought("ale")).isOne();
	}

	@Test
	void doesNotShareTheKeyOfAClientBetweenCallers() {
		Map<String, Object> key = Map.of("idempotencyKey", "order-1");
		ToolShop.call(shop.connect("alice"), LEASED, order("pepper", 1), key);
		ToolShop.call(shop.connect("bob"), LEASED, order("pepper", 1), key);
		assertThat(bought("pepper")).isEqualTo(2);
	}

	@ParameterizedTest
	@ValueSource(strings = { "idempotencyKey", "idempotency-key", "idempotency_key" })
	void takesTheKeyOfTheClient(String name) {
		McpSyncClient client = shop.connect("alice");
		String item = "rice " + name;
		ToolShop.call(client, RECORDED, order(item, 1), Map.of(name, name + 1));
		CallToolResult second = ToolShop.call(client, RECORDED, order(item, 1), Map.of(name, name + 2));
		CallToolResult repeated = ToolShop.call(client, RECORDED, order(item, 1), Map.of(name, name + 1));
		assertThat(ToolShop.isReplay(second)).isFalse();
		assertThat(ToolShop.isReplay(repeated)).isTrue();
		assertThat(bought(item)).isEqualTo(2);
	}

	@ParameterizedTest
	@ValueSource(strings = { LEASED, RECORDED, OF_SPRING, STRUCTURED })
	void refusesOtherArgumentsUnderOneKey(String tool) {
		McpSyncClient client = shop.connect("alice");
		Map<String, Object> key = Map.of("idempotencyKey", "other-" + tool);
		ToolShop.call(client, tool, order("wine " + tool, 1), key);
		CallToolResult refused = ToolShop.call(client, tool, order("wine " + tool, 3), key);
		assertRefused(refused, Reason.OTHER_ARGUMENTS, "other-arguments");
		assertThat(bought("wine " + tool)).isOne();
	}

	@Test
	void refusesWhatIsNoKey() {
		McpSyncClient client = shop.connect("alice");
		for (Object key : List.of(17, " ", "x".repeat(256), List.of("a"))) {
			assertRefused(ToolShop.call(client, LEASED, order("oats", 1), Map.of("idempotencyKey", key)),
					Reason.KEY_INVALID, "key-invalid");
		}
		assertRefused(ToolShop.call(client, LEASED, order("oats", 1),
				Map.of("idempotencyKey", "one", "idempotency-key", "two")), Reason.KEY_INVALID, "key-invalid");
		assertThat(bought("oats")).isZero();
	}

	@Test
	void prefersTheKeyThatTheModelRepeats() {
		McpSyncClient client = shop.connect("alice");
		Map<String, Object> arguments = Map.of("item", "figs", "orderKey", "figs-1");
		ToolShop.call(client, "buy-keyed", arguments, Map.of("idempotencyKey", "request-1"));
		CallToolResult repeated = ToolShop.call(client, "buy-keyed", arguments, Map.of("idempotencyKey", "request-2"));
		assertThat(ToolShop.isReplay(repeated)).isTrue();
		assertThat(bought("figs")).isOne();
	}

	@Test
	void comparesTheArgumentsOfACallWithoutTheKeyOfTheModel() {
		McpSyncClient client = shop.connect("alice");
		ToolShop.call(client, "buy-keyed", Map.of("item", "plums"));
		CallToolResult repeated = ToolShop.call(client, "buy-keyed", Map.of("item", "plums"));
		assertThat(ToolShop.isReplay(repeated)).isTrue();
		assertThat(bought("plums")).isOne();
	}

	@Test
	void refusesACallOfAnUnknownCaller() {
		CallToolResult refused = ToolShop.call(shop.connect(""), LEASED, order("hops", 1));
		assertRefused(refused, Reason.CALLER_UNKNOWN, "caller-unknown");
		CallToolResult withKey = ToolShop.call(shop.connect(""), LEASED, order("hops", 1),
				Map.of("idempotencyKey", "hops-1"));
		assertRefused(withKey, Reason.CALLER_UNKNOWN, "caller-unknown");
		assertThat(bought("hops")).isZero();
	}

	@Test
	void doesNotCompareWhatTheFrameworkAdds() {
		McpSyncClient client = shop.connect("alice");
		call(client, "token-1");
		CallToolResult repeated = call(client, "token-2");
		assertThat(ToolShop.isReplay(repeated)).isTrue();
		assertThat(bought("beans")).isOne();
	}

	private static CallToolResult call(McpSyncClient client, String token) {
		return client.callTool(CallToolRequest.builder("buy-with-context")
			.arguments(Map.of("item", "beans"))
			.progressToken(token)
			.build());
	}

	@Test
	void comparesTheArgumentsOfARequestThatAToolTakesWhole() {
		McpSyncClient client = shop.connect("alice");
		for (String item : List.of("leek", "kale", "leek")) {
			client.callTool(CallToolRequest.builder("buy-anything")
				.arguments(Map.of("item", item))
				.progressToken(item + bought("leek"))
				.build());
		}
		assertThat(bought("leek")).isOne();
		assertThat(bought("kale")).isOne();
	}

	@ParameterizedTest
	@ValueSource(strings = { "fail-leased", "fail-recorded" })
	void runsAgainAfterAFailure(String tool) {
		McpSyncClient client = shop.connect("alice");
		CallToolResult failed = ToolShop.call(client, tool, order("eggs " + tool, 1));
		assertThat(failed.isError()).isTrue();
		assertThat(ToolShop.textOf(failed)).contains("sold out");
		CallToolResult repeated = ToolShop.call(client, tool, order("eggs " + tool, 1));
		assertThat(repeated.isError()).isNotEqualTo(true);
		assertThat(ToolShop.isReplay(repeated)).isFalse();
	}

	@ParameterizedTest
	@ValueSource(strings = { "refuse-leased", "refuse-recorded", "refuse-transactional" })
	void recordsNoResultThatIsAnError(String tool) {
		McpSyncClient client = shop.connect("alice");
		CallToolResult failed = ToolShop.call(client, tool, order("nuts " + tool, 1));
		assertThat(failed.isError()).isTrue();
		assertThat(ToolShop.textOf(failed)).isEqualTo("sold out");
		assertThat(bought("nuts " + tool)).isEqualTo(tool.equals("refuse-leased") ? 1 : 0);
		CallToolResult repeated = ToolShop.call(client, tool, order("nuts " + tool, 1));
		assertThat(repeated.isError()).isNotEqualTo(true);
		assertThat(ToolShop.isReplay(repeated)).isFalse();
		CallToolResult third = ToolShop.call(client, tool, order("nuts " + tool, 1));
		assertThat(ToolShop.textOf(third)).isEqualTo(ToolShop.textOf(repeated));
		assertThat(ToolShop.isReplay(third)).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "wait-leased", "wait-recorded" })
	void runsOneOfTenCallsAtOnce(String tool) throws Exception {
		Gate gate = shop.bean(Tools.class).close();
		CountDownLatch refused = new CountDownLatch(9);
		ConcurrentLinkedQueue<CallToolResult> results = new ConcurrentLinkedQueue<>();
		ExecutorService threads = Executors.newFixedThreadPool(10);
		try {
			List<McpSyncClient> clients = IntStream.range(0, 10).mapToObj((i) -> shop.connect("alice")).toList();
			List<CompletableFuture<Void>> calls = clients.stream().map((client) -> CompletableFuture.runAsync(() -> {
				CallToolResult result = ToolShop.call(client, tool, order("corn " + tool, 1));
				results.add(result);
				if (ToolShop.refusal(result) != null) {
					refused.countDown();
				}
			}, threads)).toList();
			assertThat(refused.await(60, TimeUnit.SECONDS)).isTrue();
			gate.open();
			CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);
		}
		finally {
			threads.shutdownNow();
		}
		assertThat(results).filteredOn((result) -> ToolShop.refusal(result) != null)
			.hasSize(9)
			.allSatisfy((result) -> assertRefused(result, Reason.IN_PROGRESS, "in-progress"));
		assertThat(bought("corn " + tool)).isOne();
		CallToolResult repeated = ToolShop.call(shop.connect("alice"), tool, order("corn " + tool, 1));
		assertThat(ToolShop.isReplay(repeated)).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "wait-leased", "wait-recorded" })
	void replaysToAClientThatHasLeftBeforeTheAnswer(String tool) throws Exception {
		Gate gate = shop.bean(Tools.class).close();
		McpSyncClient leaving = shop.connect("alice");
		CompletableFuture<?> lost = CompletableFuture
			.runAsync(() -> ToolShop.call(leaving, tool, order("lime " + tool, 1)));
		gate.awaitEntry();
		leaving.close();
		gate.open();
		McpSyncClient returning = shop.connect("alice");
		CallToolResult repeated = ToolShop.call(returning, tool, order("lime " + tool, 1));
		while (ToolShop.refusal(repeated) != null) {
			repeated = ToolShop.call(returning, tool, order("lime " + tool, 1));
		}
		assertThat(ToolShop.isReplay(repeated)).isTrue();
		assertThat(bought("lime " + tool)).isOne();
		lost.cancel(true);
	}

	@Test
	void doesNotLendTheKeyOfACallToTheToolsThatItsToolCalls() {
		McpSyncClient client = shop.connect("alice");
		CallToolResult both = ToolShop.call(client, "buy-both", order("gin", 1), Map.of("idempotencyKey", "gin-1"));
		assertThat(both.isError()).isNotEqualTo(true);
		assertThat(bought("gin tonic")).isOne();
		assertThat(bought("gin ice")).isOne();
	}

	@ParameterizedTest
	@ValueSource(strings = { LEASED, RECORDED, OF_SPRING, STRUCTURED })
	void letsATestAssertThatACallIsReplayed(String tool) {
		CallToolResult run = ToolAssertions.replaysMcpCall(shop.connect("alice"), request(tool, "figs " + tool));
		assertThat(ToolShop.textOf(run)).contains("figs");
		assertThat(bought("figs " + tool)).isOne();
	}

	@Test
	void failsATestOfACallThatIsNotReplayed() {
		McpSyncClient client = shop.connect("alice");
		ToolShop.call(client, LEASED, order("dates", 1));
		assertFails(client, request(LEASED, "dates"), "its first result is a replay");
		assertFails(client, request("buy-unprotected", "dates"), "no dev.idempotent/replayed in _meta");
		assertFails(shop.connect(""), request(LEASED, "dates"), Reason.CALLER_UNKNOWN.sentence());
	}

	private static void assertFails(McpSyncClient client, CallToolRequest request, String part) {
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> ToolAssertions.replaysMcpCall(client, request))
			.withMessageContaining(part);
	}

	private static CallToolRequest request(String tool, String item) {
		return CallToolRequest.builder(tool).arguments(order(item, 1)).build();
	}

	private static void assertRefused(CallToolResult result, Reason reason, String mark) {
		assertThat(result.isError()).isTrue();
		assertThat(result.content()).singleElement()
			.extracting((content) -> ((TextContent) content).text())
			.isEqualTo(reason.sentence());
		assertThat(ToolShop.refusal(result)).isEqualTo(mark);
		assertThat(ToolShop.isReplay(result)).isFalse();
	}

	private static long bought(String item) {
		return shop.bean(Purchases.class).items().stream().filter(item::equals).count();
	}

	private static Map<String, Object> order(String item, int amount) {
		return Map.of("item", item, "amount", amount);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Purchases.Shop.class)
	static class Application {

		@Bean
		Tools tools(Purchases purchases) {
			return new Tools(purchases);
		}

		@Bean
		Seats seats(Purchases purchases) {
			return new Seats(purchases);
		}

		@Bean
		SeatTools seatTools(Seats seats) {
			return new SeatTools(seats);
		}

		@Bean
		ToolOfSpring toolOfSpring(Purchases purchases) {
			return new ToolOfSpring(purchases);
		}

		@Bean
		Outer outer(Tools tools) {
			return new Outer(tools);
		}

		@Bean
		ToolCallbackProvider callbacks(ToolOfSpring tool) {
			return MethodToolCallbackProvider.builder().toolObjects(tool).build();
		}

	}

	static class Seats {

		private final Purchases purchases;

		Seats(Purchases purchases) {
			this.purchases = purchases;
		}

		@Idempotent(key = "'last'", name = "buy-last-seat", guarantee = Guarantee.LEASE)
		Receipt buy(String item, int amount) {
			return this.purchases.buy(item, amount);
		}

	}

	static class SeatTools {

		private final Seats seats;

		SeatTools(Seats seats) {
			this.seats = seats;
		}

		@McpTool(name = "buy-seat")
		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "buy-seat", guarantee = Guarantee.LEASE)
		Receipt buy(String item, int amount) {
			try {
				return this.seats.buy(item, amount);
			}
			catch (RuntimeException ex) {
				throw item.equals("balcony") ? new IllegalStateException("No seat", ex) : new IllegalStateException(ex);
			}
		}

	}

	static class ToolOfSpring {

		private final Purchases purchases;

		ToolOfSpring(Purchases purchases) {
			this.purchases = purchases;
		}

		@Tool(name = OF_SPRING)
		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "buy-with-tool",
				guarantee = Guarantee.TRANSACTION)
		Receipt buy(String item, int amount) {
			return this.purchases.buy(item, amount);
		}

	}

	/**
	 * Its own tool is not idempotent.
	 */
	static class Outer {

		private final Tools tools;

		Outer(Tools tools) {
			this.tools = tools;
		}

		@McpTool(name = "buy-both")
		String buy(String item, int amount) {
			this.tools.leased(item + " tonic", amount);
			this.tools.leased(item + " ice", amount);
			return "both";
		}

	}

	static class Tools {

		private final Purchases purchases;

		private final List<String> failed = new CopyOnWriteArrayList<>();

		private volatile Gate gate = new Gate();

		Tools(Purchases purchases) {
			this.purchases = purchases;
		}

		/**
		 * Closes the gate of those that wait.
		 */
		Gate close() {
			this.gate = new Gate();
			return this.gate;
		}

		@McpTool(name = LEASED)
		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "buy-leased", guarantee = Guarantee.LEASE)
		Receipt leased(String item, int amount) {
			return this.purchases.buy(item, amount);
		}

		@McpTool(name = "buy-unprotected")
		Receipt unprotected(String item, int amount) {
			return this.purchases.buy(item, amount);
		}

		@McpTool(name = RECORDED)
		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "buy-recorded",
				guarantee = Guarantee.TRANSACTION)
		Receipt recorded(String item, int amount) {
			return this.purchases.buy(item, amount);
		}

		@McpTool(name = STRUCTURED, generateOutputSchema = true)
		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "buy-structured",
				guarantee = Guarantee.TRANSACTION)
		Receipt structured(String item, int amount) {
			return this.purchases.buy(item, amount);
		}

		@McpTool(name = "buy-keyed")
		@Idempotent(from = KeySource.TOOL_CALL, key = "#orderKey", window = "15m", name = "buy-keyed",
				guarantee = Guarantee.LEASE)
		Receipt keyed(String item, @McpToolParam(required = false) @Nullable String orderKey) {
			return this.purchases.buy(item, 1);
		}

		@McpTool(name = "buy-with-context")
		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "buy-with-context", guarantee = Guarantee.LEASE)
		Receipt withContext(String item, McpMeta meta, @McpProgressToken Object token, McpSyncRequestContext context,
				McpSyncServerExchange exchange) {
			return this.purchases.buy(item, 1);
		}

		@McpTool(name = "buy-anything")
		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "buy-anything", guarantee = Guarantee.LEASE)
		Receipt anything(CallToolRequest request) {
			return this.purchases.buy(String.valueOf(request.arguments().get("item")), 1);
		}

		@McpTool(name = "fail-leased")
		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "fail-leased", guarantee = Guarantee.LEASE)
		Receipt failLeased(String item, int amount) {
			return failFirst("fail-leased", item, amount);
		}

		@McpTool(name = "fail-recorded")
		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "fail-recorded",
				guarantee = Guarantee.TRANSACTION)
		Receipt failRecorded(String item, int amount) {
			return failFirst("fail-recorded", item, amount);
		}

		private Receipt failFirst(String tool, String item, int amount) {
			if (!this.failed.contains(tool)) {
				this.failed.add(tool);
				throw new IllegalStateException("sold out");
			}
			return this.purchases.buy(item, amount);
		}

		@McpTool(name = "refuse-leased")
		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "refuse-leased", guarantee = Guarantee.LEASE)
		CallToolResult refuseLeased(String item, int amount) {
			return refuseFirst("refuse-leased", item, amount);
		}

		@McpTool(name = "refuse-recorded")
		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "refuse-recorded",
				guarantee = Guarantee.TRANSACTION)
		CallToolResult refuseRecorded(String item, int amount) {
			return refuseFirst("refuse-recorded", item, amount);
		}

		@McpTool(name = "refuse-transactional")
		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "refuse-transactional",
				guarantee = Guarantee.TRANSACTION)
		@Transactional
		CallToolResult refuseTransactional(String item, int amount) {
			return refuseFirst("refuse-transactional", item, amount);
		}

		private CallToolResult refuseFirst(String tool, String item, int amount) {
			Receipt receipt = this.purchases.buy(item, amount);
			boolean first = !this.failed.contains(tool);
			if (first) {
				this.failed.add(tool);
			}
			return CallToolResult
				.builder(List.of(TextContent.builder(first ? "sold out" : "receipt " + receipt.id()).build()))
				.isError(first)
				.build();
		}

		@McpTool(name = "wait-leased")
		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "wait-leased", guarantee = Guarantee.LEASE)
		Receipt waitLeased(String item, int amount) throws InterruptedException {
			this.gate.pass();
			return this.purchases.buy(item, amount);
		}

		@McpTool(name = "wait-recorded")
		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "wait-recorded",
				guarantee = Guarantee.TRANSACTION)
		Receipt waitRecorded(String item, int amount) throws InterruptedException {
			this.gate.pass();
			return this.purchases.buy(item, amount);
		}

	}

}
