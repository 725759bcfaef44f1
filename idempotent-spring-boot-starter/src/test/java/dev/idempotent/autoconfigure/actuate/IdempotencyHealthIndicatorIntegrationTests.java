package dev.idempotent.autoconfigure.actuate;

import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import javax.sql.DataSource;

import dev.idempotent.autoconfigure.actuate.KeyApplication.Payments;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.engine.IdempotencyEngine;
import dev.idempotent.testing.Gate;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link IdempotencyHealthIndicator}.
 */
class IdempotencyHealthIndicatorIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	private boolean stopped;

	@AfterEach
	void restore() {
		if (this.stopped) {
			redis.start();
		}
		redis.command("CONFIG SET maxmemory-policy noeviction");
	}

	@Test
	void isUpWhileTheStoreRespondsAndDownWithoutItAndRevealsNoAddress() {
		try (WebApplication application = start(LeaseApplication.class)) {
			Health up = health(application);
			assertThat(up.getStatus()).isEqualTo(Status.UP);
			assertThat(up.getDetails()).containsEntry("store", "Redis").doesNotContainKeys("warning", "problem");
			stopRedis();
			Health down = health(application);
			assertThat(down.getStatus()).isEqualTo(Status.DOWN);
			assertThat(detail(down, "effect")).contains("get 503");
			assertThat(down.toString()).doesNotContain(String.valueOf(redis.port()));
		}
	}

	@Test
	void isUpWithoutTheStoreIfRequestsProceed() {
		try (WebApplication application = start(LeaseApplication.class, "idempotent.on-store-failure=proceed")) {
			stopRedis();
			Health health = health(application);
			assertThat(health.getStatus()).isEqualTo(Status.UP);
			assertThat(detail(health, "effect")).contains("run unprotected");
		}
	}

	@Test
	void isDownWithoutTheDatabaseThatDecidesAndUpWithoutTheStore() {
		try (WebApplication application = start(TransactionApplication.class, WebApplication.WITH_DATABASE,
				"idempotent.jdbc.initialize-schema=always")) {
			AwayDatabase database = application.bean(AwayDatabase.class);
			database.away = true;
			Health down = health(application);
			assertThat(down.getStatus()).isEqualTo(Status.DOWN);
			assertThat(down.getDetails()).containsKey("database");
			assertThat(down.toString()).doesNotContain("s3cret");
			database.away = false;
			stopRedis();
			Health health = health(application);
			assertThat(health.getStatus()).isEqualTo(Status.UP);
			assertThat(detail(health, "effect"))
				.isEqualTo("The database serves operations under Guarantee.TRANSACTION alone; those under "
						+ "Guarantee.LEASE get 503");
			assertThat(application.post("/transfers", "", "Idempotency-Key", UUID.randomUUID().toString()).statusCode())
				.isEqualTo(200);
		}
	}

	@Test
	void isUpHoweverLongTheStoreIsAwayIfTheDatabaseDecides() {
		try (WebApplication application = start(TransactionApplication.class, WebApplication.WITH_DATABASE,
				"idempotent.jdbc.initialize-schema=always", "idempotent.health.max-unsettled-age=1ms")) {
			stopRedis();
			assertThat(application.post("/transfers", "", "Idempotency-Key", UUID.randomUUID().toString()).statusCode())
				.isEqualTo(200);
			IdempotencyEngine engine = application.bean(IdempotencyEngine.class);
			await().until(() -> engine.running() == 0 && engine.oldestUnsettled().toMillis() > 1);
			assertThat(health(application).getStatus()).isEqualTo(Status.UP);
		}
	}

	@Test
	void warnsOfAStoreThatEvictsKeys() {
		redis.command("CONFIG SET maxmemory-policy allkeys-lru");
		try (WebApplication application = start(LeaseApplication.class)) {
			Health health = health(application);
			assertThat(health.getStatus()).isEqualTo(Status.UP);
			assertThat(detail(health, "warning")).contains("maxmemory-policy allkeys-lru");
		}
	}

	@Test
	void isDownWhileARunHangs() throws Exception {
		try (WebApplication application = start(KeyApplication.class, WebApplication.WITH_DATABASE,
				"spring.datasource.url=jdbc:h2:mem:hanging;DB_CLOSE_DELAY=-1",
				"idempotent.jdbc.initialize-schema=always", "idempotent.health.max-unsettled-age=1ms")) {
			Gate gate = application.bean(Payments.class).holdNextRun();
			CompletableFuture<HttpResponse<byte[]>> run = application.postAsync("/payments", "", "Idempotency-Key",
					UUID.randomUUID().toString());
			gate.awaitEntry();
			await().untilAsserted(() -> assertThat(health(application).getStatus()).isEqualTo(Status.DOWN));
			assertThat(health(application).getDetails()).containsEntry("maxUnsettledAge", "PT0.001S");
			gate.open();
			assertThat(run.get().statusCode()).isEqualTo(200);
			await().untilAsserted(() -> assertThat(health(application).getStatus()).isEqualTo(Status.UP));
		}
	}

	@Test
	void toleratesARunForHalfOfItsLongestTime() {
		try (WebApplication application = start(LeaseApplication.class, "idempotent.max-run=7m")) {
			assertThat(health(application).getDetails()).containsEntry("maxUnsettledAge", "PT3M30S");
		}
	}

	@Test
	void refusesAnAgeOfZero() {
		assertThatThrownBy(() -> start(LeaseApplication.class, "idempotent.health.max-unsettled-age=0s"))
			.hasRootCauseMessage("idempotent.health.max-unsettled-age is PT0S.");
	}

	@Test
	void canBeSwitchedOff() {
		try (WebApplication application = start(LeaseApplication.class,
				"management.health.idempotency.enabled=false")) {
			assertThatExceptionOfType(NoSuchBeanDefinitionException.class).isThrownBy(() -> health(application));
		}
	}

	private static String detail(Health health, String name) {
		return String.valueOf(health.getDetails().get(name));
	}

	private void stopRedis() {
		this.stopped = true;
		redis.stop();
	}

	private static Health health(WebApplication application) {
		return application.bean(IdempotencyHealthIndicator.class).health();
	}

	private static WebApplication start(Class<?> source, String... properties) {
		return WebApplication.start(source, redis, properties);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@RestController
	static class LeaseApplication {

		@PostMapping("/lease")
		@Idempotent
		String run() {
			return "done";
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Payments.class)
	static class TransactionApplication {

		@Bean
		AwayDatabase database() {
			JdbcDataSource h2 = new JdbcDataSource();
			h2.setURL("jdbc:h2:mem:operated;DB_CLOSE_DELAY=-1");
			return new AwayDatabase(h2);
		}

	}

	static class AwayDatabase extends DelegatingDataSource {

		private volatile boolean away;

		AwayDatabase(DataSource database) {
			super(database);
		}

		@Override
		public Connection getConnection() throws SQLException {
			if (this.away) {
				throw new SQLException("no connection for user sa with password s3cret");
			}
			return super.getConnection();
		}

	}

}
