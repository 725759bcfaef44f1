package dev.idempotent.idempotency.tool;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

import com.fasterxml.jackson.annotation.JsonCreator;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.testing.LostCommitReplies;
import org.springframework.ai.mcp.annotation.McpTool;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * An MCP server whose keys and purchases are on servers of the test, which several
 * processes share.
 */
class RealShop {

	static final String RECORDED = "buy-recorded";

	static final String LEASED = "buy-leased";

	/**
	 * For servers over HTTP.
	 */
	static final String PROTOCOL = "spring.ai.mcp.server.protocol=STREAMABLE";

	static final String TABLE = "create table if not exists tool_purchase (id bigserial primary key, "
			+ "item varchar(200) not null)";

	private final JdbcClient database;

	private final String held;

	private final AtomicBoolean doubtful = new AtomicBoolean();

	RealShop(JdbcClient database, String held) {
		this.database = database;
		this.held = held;
	}

	@McpTool(name = RECORDED)
	@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "buy-recorded", guarantee = Guarantee.TRANSACTION)
	Receipt recorded(String item) throws InterruptedException {
		Receipt receipt = buy(item);
		if (this.held.equals("before-commit")) {
			hold();
		}
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void afterCommit() {
				if (RealShop.this.held.equals("after-commit")) {
					hold();
				}
			}

		});
		return receipt;
	}

	@McpTool(name = LEASED)
	@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "buy-leased", guarantee = Guarantee.LEASE)
	Receipt leased(String item) {
		return buy(item);
	}

	/**
	 * The reply to the commit of its first call is lost.
	 */
	@McpTool(name = "buy-in-doubt")
	@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "buy-in-doubt", guarantee = Guarantee.TRANSACTION)
	Receipt inDoubt(String item) {
		if (this.doubtful.compareAndSet(false, true)) {
			LostCommitReplies.OfOneThread.expect();
		}
		return buy(item);
	}

	@McpTool(name = "buy-fragile")
	@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "buy-fragile", guarantee = Guarantee.TRANSACTION)
	Fragile fragile(String item) {
		return new Fragile(buy(item).id());
	}

	private Receipt buy(String item) {
		return new Receipt(this.database.sql("insert into tool_purchase (item) values (?) returning id")
			.param(item)
			.query(Long.class)
			.single(), item);
	}

	/**
	 * Until this process is killed.
	 */
	private static void hold() {
		try {
			new CountDownLatch(1).await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/**
	 * Serves over standard input and output.
	 */
	public static void main(String[] arguments) {
		SpringApplication application = new SpringApplication(Application.class);
		application.setWebApplicationType(WebApplicationType.NONE);
		application.run(arguments);
	}

	record Receipt(long id, String item) {
	}

	/**
	 * A result that a later release of the application cannot read.
	 */
	static class Fragile {

		static final AtomicBoolean ofEarlierRelease = new AtomicBoolean();

		private final long id;

		Fragile(long id) {
			this.id = id;
		}

		@JsonCreator
		static Fragile of(long id) {
			if (ofEarlierRelease.get()) {
				throw new IllegalArgumentException("This release cannot read it");
			}
			return new Fragile(id);
		}

		public long getId() {
			return this.id;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Purchases.Users.class)
	static class Application {

		@Bean
		RealShop shop(JdbcClient database, Environment environment) {
			return new RealShop(database, environment.getProperty("test.held", ""));
		}

		@Bean
		static LostCommitReplies.OfOneThread lostCommitReplies() {
			return new LostCommitReplies.OfOneThread();
		}

	}

}
