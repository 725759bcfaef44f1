package dev.idempotent.idempotency.tool;

import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import dev.idempotent.idempotency.ToolRefusal.Reason;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tools of two MCP servers with keys in Redis and PostgreSQL.
 */
class RealToolsIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private static List<WebApplication> servers = List.of();

	private static @Nullable JdbcClient database;

	private final String item = UUID.randomUUID().toString();

	@BeforeAll
	static void start() {
		database = JdbcClient.create(postgres.connect());
		database.sql(RealShop.TABLE).update();
		servers = List.of(server(), server());
	}

	private static WebApplication server() {
		return WebApplication.start(RealShop.Application.class, redis,
				Stream
					.concat(postgres.properties().stream(), Stream.of(WebApplication.WITH_DATABASE,
							WebApplication.WITH_TOOLS, RealShop.PROTOCOL, "idempotent.jdbc.initialize-schema=always"))
					.toArray(String[]::new));
	}

	@AfterAll
	static void stop() {
		servers.forEach(WebApplication::close);
	}

	@ParameterizedTest
	@ValueSource(strings = { RealShop.RECORDED, RealShop.LEASED })
	void replayACallThatAnotherServerHasServed(String tool) {
		CallToolResult first = call(0, tool);
		CallToolResult repeated = call(1, tool);
		assertThat(ToolShop.isReplay(first)).isFalse();
		assertThat(ToolShop.isReplay(repeated)).isTrue();
		assertThat(ToolShop.textOf(repeated)).isEqualTo(ToolShop.textOf(first));
		assertThat(bought()).isOne();
	}

	@ParameterizedTest
	@ValueSource(strings = { RealShop.RECORDED, RealShop.LEASED })
	void runOneOfTenCallsAtOnceOnTwoServers(String tool) throws Exception {
		CyclicBarrier together = new CyclicBarrier(10);
		ExecutorService threads = Executors.newFixedThreadPool(10);
		try {
			List<CompletableFuture<CallToolResult>> calls = IntStream.range(0, 10)
				.mapToObj((i) -> CompletableFuture.supplyAsync(() -> callTogether(i % 2, tool, together), threads))
				.toList();
			CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new)).get(2, TimeUnit.MINUTES);
			List<CallToolResult> results = calls.stream().map(CompletableFuture::join).toList();
			assertThat(results).filteredOn((result) -> ToolShop.refusal(result) == null && !ToolShop.isReplay(result))
				.hasSize(1);
			assertThat(results).filteredOn((result) -> ToolShop.refusal(result) != null)
				.allSatisfy((result) -> assertThat(ToolShop.refusal(result)).isEqualTo("in-progress"));
		}
		finally {
			threads.shutdownNow();
		}
		assertThat(ToolShop.isReplay(call(0, tool))).isTrue();
		assertThat(bought()).isOne();
	}

	private CallToolResult callTogether(int server, String tool, CyclicBarrier together) {
		try (McpSyncClient client = connect(server)) {
			together.await(1, TimeUnit.MINUTES);
			return ToolShop.call(client, tool, Map.of("item", this.item));
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void replayFromTheDatabaseWhatRedisHasForgotten() {
		CallToolResult first = call(0, RealShop.RECORDED);
		redis.flush();
		CallToolResult repeated = call(1, RealShop.RECORDED);
		assertThat(ToolShop.isReplay(repeated)).isTrue();
		assertThat(ToolShop.textOf(repeated)).isEqualTo(ToolShop.textOf(first));
		assertThat(bought()).isOne();
	}

	@Test
	void doNothingUnderALeaseWhileRedisIsAwayAndServeTransactions() {
		redis.stop();
		try {
			CallToolResult refused = call(0, RealShop.LEASED);
			assertRefused(refused, Reason.STORE_UNAVAILABLE, "store-unavailable");
			assertThat(bought()).isZero();
			CallToolResult recorded = call(0, RealShop.RECORDED);
			assertThat(ToolShop.refusal(recorded)).isNull();
			assertThat(ToolShop.isReplay(call(1, RealShop.RECORDED))).isTrue();
			assertThat(bought()).isOne();
		}
		finally {
			redis.start();
		}
		CallToolResult leased = await().until(() -> call(0, RealShop.LEASED),
				(result) -> ToolShop.refusal(result) == null);
		assertThat(ToolShop.isReplay(leased)).isFalse();
		assertThat(ToolShop.isReplay(call(0, RealShop.RECORDED))).isTrue();
		assertThat(bought()).isEqualTo(2);
	}

	@Test
	void tellThatTheOutcomeIsUnknownIfTheReplyToTheCommitIsLost() {
		CallToolResult unknown = call(0, "buy-in-doubt");
		assertRefused(unknown, Reason.OUTCOME_UNKNOWN, "outcome-unknown");
		CallToolResult repeated = await().until(() -> call(0, "buy-in-doubt"),
				(result) -> ToolShop.refusal(result) == null);
		assertThat(ToolShop.isReplay(repeated)).isTrue();
		assertThat(bought()).isOne();
	}

	@Test
	void tellThatAResultIsNotKeptThatCannotBeRead() {
		CallToolResult first = call(0, "buy-fragile");
		assertThat(first.isError()).isNotEqualTo(true);
		assertThat(ToolShop.isReplay(call(1, "buy-fragile"))).isTrue();
		RealShop.Fragile.ofEarlierRelease.set(true);
		assertRefused(call(0, "buy-fragile"), Reason.RESULT_NOT_KEPT, "result-not-kept");
		assertRefused(call(1, "buy-fragile"), Reason.RESULT_NOT_KEPT, "result-not-kept");
		assertThat(bought()).isOne();
	}

	private static void assertRefused(CallToolResult result, Reason reason, String mark) {
		assertThat(result.isError()).isTrue();
		assertThat(ToolShop.refusal(result)).isEqualTo(mark);
		assertThat(ToolShop.textOf(result)).isEqualTo(reason.sentence());
	}

	/**
	 * Calls a tool in a session of its own.
	 */
	private CallToolResult call(int server, String tool) {
		try (McpSyncClient client = connect(server)) {
			return ToolShop.call(client, tool, Map.of("item", this.item));
		}
	}

	private static McpSyncClient connect(int server) {
		URI address = servers.get(server).request("").build().uri();
		return ToolShop.connectTo(address, "alice");
	}

	private long bought() {
		return Objects.requireNonNull(database)
			.sql("select count(*) from tool_purchase where item = ?")
			.param(this.item)
			.query(Long.class)
			.single();
	}

}
