package dev.idempotent.idempotency.tool;

import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import dev.idempotent.testing.ForkedApplication;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * An MCP server is killed while a tool runs under {@code TRANSACTION}, and the client
 * repeats its call, under another id, in a session with another server.
 */
class KilledToolServerIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private static @Nullable WebApplication survivor;

	private static @Nullable JdbcClient database;

	private final String item = UUID.randomUUID().toString();

	@BeforeAll
	static void start() {
		database = JdbcClient.create(postgres.connect());
		database.sql(RealShop.TABLE).update();
		survivor = WebApplication.start(RealShop.Application.class, redis, properties(""));
	}

	private static String[] properties(String held) {
		return Stream
			.concat(postgres.properties().stream(),
					Stream.of(WebApplication.WITH_DATABASE, WebApplication.WITH_TOOLS, RealShop.PROTOCOL,
							"idempotent.lease=2s", "idempotent.jdbc.initialize-schema=always", "test.held=" + held))
			.toArray(String[]::new);
	}

	@AfterAll
	static void stop() {
		Objects.requireNonNull(survivor).close();
	}

	@Test
	void isReplacedByOneThatAnswersWhatWasCommitted() throws IOException {
		isReplacedByOneThatMakesTheCallOnce("after-commit", null);
	}

	@Tag("long")
	@ParameterizedTest
	@CsvSource({ "after-commit, order-1", "before-commit, ", "before-commit, order-1" })
	void isReplacedByOneThatMakesTheCallOnce(String held, @Nullable String key) throws IOException {
		Map<String, Object> meta = (key != null) ? Map.of("idempotencyKey", key + this.item) : Map.of();
		boolean committed = held.equals("after-commit");
		try (ForkedApplication dying = ForkedApplication.start(RealShop.Application.class, redis, "256m",
				properties(held))) {
			McpSyncClient client = ToolShop.connectTo(dying.uri(""), "alice");
			CompletableFuture<?> lost = CompletableFuture.runAsync(() -> call(client, meta));
			await().until(() -> committed ? bought().size() == 1 : isInTransaction());
			assertThat(lost).isNotDone();
		}
		assertThat(bought()).hasSize(committed ? 1 : 0);
		URI address = Objects.requireNonNull(survivor).request("").build().uri();
		try (McpSyncClient returning = ToolShop.connectTo(address, "alice")) {
			// In progress until the lease of the dead process has ended.
			CallToolResult result = await().until(() -> call(returning, meta),
					(answer) -> !"in-progress".equals(ToolShop.refusal(answer)));
			assertThat(ToolShop.refusal(result)).isNull();
			assertThat(ToolShop.isReplay(result)).isEqualTo(committed);
			assertThat(bought()).singleElement()
				.satisfies((id) -> assertThat(ToolShop.textOf(result)).contains("\"id\":" + id + ","));
			CallToolResult again = call(returning, meta);
			assertThat(ToolShop.isReplay(again)).isTrue();
			assertThat(ToolShop.textOf(again)).isEqualTo(ToolShop.textOf(result));
		}
		assertThat(bought()).hasSize(1);
	}

	private CallToolResult call(McpSyncClient client, Map<String, Object> meta) {
		return ToolShop.call(client, RealShop.RECORDED, Map.of("item", this.item), meta);
	}

	private static boolean isInTransaction() {
		return Objects.requireNonNull(database)
			.sql("select count(*) from pg_stat_activity where state = 'idle in transaction' "
					+ "and query like 'insert into tool_purchase%'")
			.query(Long.class)
			.single() == 1;
	}

	private List<Long> bought() {
		return Objects.requireNonNull(database)
			.sql("select id from tool_purchase where item = ?")
			.param(this.item)
			.query(Long.class)
			.list();
	}

}
