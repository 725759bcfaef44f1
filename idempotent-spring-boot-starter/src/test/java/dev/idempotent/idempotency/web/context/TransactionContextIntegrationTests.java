package dev.idempotent.idempotency.web.context;

import java.net.http.HttpResponse;
import java.util.Objects;
import java.util.Properties;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.OnPending;
import dev.idempotent.testing.Gate;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import jakarta.servlet.DispatcherType;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The context of work under {@code Guarantee.TRANSACTION}.
 */
class TransactionContextIntegrationTests {

	private static final String KEY = "Idempotency-Key";

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication application = RunningApplication
		.of(() -> WebApplication.start(TransactionApplication.class, redis, WebApplication.WITH_DATABASE))
		.resetting(Sightings.class, Sightings::forget);

	private final Sightings sightings = application.bean(Sightings.class);

	private final String key = UUID.randomUUID().toString();

	@Test
	void hasTheRecordedTokenUntilAfterTheCommit() {
		String onRecord = text(application.post("/in-transaction", "{}", KEY, this.key));
		IdempotencyContext context = this.sightings.at("handler").bound();
		assertThat(context.token()).isEqualTo(onRecord);
		assertThat(this.sightings.at("after commit").bound()).isSameAs(context);
		assertThat(this.sightings.after(DispatcherType.REQUEST).isClean()).isTrue();
	}

	@Test
	void hasTheTokenOfTheLastClaimAfterAWait() throws Exception {
		TransactionHandlers handlers = application.bean(TransactionHandlers.class);
		try (RedisConnection connection = redis.connect().getConnection()) {
			CompletableFuture<HttpResponse<byte[]>> first = post("/fails-at-first");
			handlers.gate().awaitEntry();
			long before = claims(connection);
			CompletableFuture<HttpResponse<byte[]>> second = post("/fails-at-first");
			await().until(() -> claims(connection) > before);
			handlers.gate().open();
			assertThat(first.join().statusCode()).isEqualTo(500);
			assertThat(second.join().statusCode()).isEqualTo(200);
			assertThat(this.sightings.at("handler").bound().token()).isEqualTo(text(second.join()));
		}
	}

	private CompletableFuture<HttpResponse<byte[]>> post(String path) {
		return application.postAsync(path, "{}", KEY, this.key);
	}

	private static long claims(RedisConnection connection) {
		Properties stats = connection.serverCommands().info("commandstats");
		String scripts = (stats != null) ? stats.getProperty("cmdstat_evalsha") : null;
		return (scripts != null) ? Long.parseLong(scripts.substring("calls=".length(), scripts.indexOf(','))) : 0;
	}

	@Configuration(proxyBeanMethods = false)
	@Import({ ContextApplication.class, TransactionHandlers.class })
	static class TransactionApplication {

	}

	/**
	 * Handlers that respond with the token of the record in their transaction.
	 */
	@RestController
	static class TransactionHandlers {

		private final Sightings sightings;

		private final JdbcTemplate database;

		private final Gate gate = new Gate();

		private final AtomicBoolean begun = new AtomicBoolean();

		TransactionHandlers(Sightings sightings, JdbcTemplate database) {
			this.sightings = sightings;
			this.database = database;
		}

		Gate gate() {
			return this.gate;
		}

		@PostMapping("/in-transaction")
		@Idempotent(guarantee = Guarantee.TRANSACTION)
		String inTransaction() {
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
				@Override
				public void afterCommit() {
					TransactionHandlers.this.sightings.note("after commit");
				}
			});
			return tokenOnRecord();
		}

		@PostMapping("/fails-at-first")
		@Idempotent(guarantee = Guarantee.TRANSACTION, onPending = OnPending.WAIT)
		String failsAtFirst() throws InterruptedException {
			if (this.begun.compareAndSet(false, true)) {
				this.gate.pass();
				throw new IllegalStateException("The first run went wrong");
			}
			return tokenOnRecord();
		}

		private String tokenOnRecord() {
			this.sightings.note("handler");
			IdempotencyContext context = Objects.requireNonNull(IdempotencyContext.current());
			return Objects.requireNonNull(this.database.queryForObject(
					"select token from idempotency_record where key_digest = ?", String.class, context.key().digest()));
		}

	}

}
