package dev.idempotent.idempotency.tool;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.ServerParameters;
import io.modelcontextprotocol.client.transport.StdioClientTransport;
import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An MCP server that its client starts, and starts again: over standard input and output,
 * with keys in Redis and PostgreSQL.
 */
@Tag("long")
class StdioServerIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private final String item = UUID.randomUUID().toString();

	@Test
	void recognizesACallThatItsEarlierProcessHasServed() {
		JdbcClient database = JdbcClient.create(postgres.connect());
		database.sql(RealShop.TABLE).update();
		CallToolResult first;
		try (Server server = new Server()) {
			first = call(server, Map.of());
			CallToolResult repeated = call(server, Map.of());
			assertThat(ToolShop.isReplay(first)).isFalse();
			assertThat(ToolShop.isReplay(repeated)).isTrue();
			assertThat(ToolShop.textOf(repeated)).isEqualTo(ToolShop.textOf(first));
		}
		try (Server server = new Server()) {
			CallToolResult repeated = call(server, Map.of());
			assertThat(ToolShop.isReplay(repeated)).isTrue();
			assertThat(ToolShop.textOf(repeated)).isEqualTo(ToolShop.textOf(first));
			CallToolResult keyed = call(server, Map.of("idempotencyKey", this.item));
			assertThat(ToolShop.isReplay(keyed)).isFalse();
		}
		assertThat(database.sql("select count(*) from tool_purchase where item = ?")
			.param(this.item)
			.query(Long.class)
			.single()).isEqualTo(2);
	}

	private CallToolResult call(Server server, Map<String, Object> meta) {
		return ToolShop.call(server.client, RealShop.RECORDED, Map.of("item", this.item), meta);
	}

	/**
	 * A process and its only client.
	 */
	private static final class Server implements AutoCloseable {

		private final McpSyncClient client;

		Server() {
			List<String> arguments = new ArrayList<>(List.of("-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp",
					System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
					RealShop.class.getName(), "--spring.ai.mcp.server.stdio=true", "--test.with-tools=true",
					"--idempotent.namespace=stdio", "--idempotent.jdbc.initialize-schema=always",
					"--idempotent.redis.timeout=10s", "--spring.main.banner-mode=off", "--logging.level.root=off"));
			postgres.properties().forEach((property) -> arguments.add("--" + property));
			redis.properties().forEach((property) -> arguments.add("--" + property));
			ServerParameters process = ServerParameters.builder(System.getProperty("java.home") + "/bin/java")
				.args(arguments)
				.build();
			this.client = McpClient.sync(new StdioClientTransport(process, McpJsonDefaults.getMapper()))
				.requestTimeout(Duration.ofMinutes(1))
				.initializationTimeout(Duration.ofMinutes(2))
				.build();
			this.client.initialize();
		}

		@Override
		public void close() {
			this.client.closeGracefully();
		}

	}

}
