package dev.idempotent.autoconfigure.actuate;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import javax.sql.DataSource;

import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.outbox.relay.OutboxRelay;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for the health indicator of the outbox.
 */
class OutboxHealthIndicatorTests {

	@Test
	void isUpWhileEventsAreYoung() {
		start().run((context) -> {
			append(context, 60);
			assertThat(health(context).getStatus()).isEqualTo(Status.UP);
			assertThat(health(context).getDetails()).containsOnlyKeys("oldestPendingAge", "pending", "waiting",
					"blocked", "unserved", "complete", "scanned", "maxAge", "delayed", "dead", "unavailablePublishers",
					"unavailableDestinations", "pausedTopics");
		});
	}

	@Test
	void isDownOnceTheOldestEventIsTooOld() {
		start().run((context) -> {
			append(context, 301);
			assertThat(health(context).getStatus()).isEqualTo(Status.DOWN);
		});
	}

	@Test
	void tellsWhichEventIsLate() {
		start().run((context) -> {
			append(context, 60);
			append(context, 301);
			assertThat(late(context)).containsEntry("topic", "other:orders")
				.containsEntry("type", "order.created")
				.containsEntry("id", idOfFirst(context))
				.containsEntry("state", "due");
		});
	}

	/**
	 * Other instances cannot deliver it either.
	 */
	@Test
	void tellsThatTheLateEventIsLocked() {
		start().run((context) -> {
			append(context, 301);
			String id = idOfFirst(context);
			new TransactionTemplate(new JdbcTransactionManager(context.getBean(DataSource.class)))
				.executeWithoutResult((status) -> {
					context.getBean(JdbcTemplate.class).update("update outbox_event set attempts = 0");
					assertThat(CompletableFuture.supplyAsync(() -> late(context)).join()).containsEntry("id", id)
						.containsEntry("state", "locked")
						.hasEntrySatisfying("action", (action) -> assertThat(action).contains("A locked event"));
				});
			assertThat(late(context)).containsEntry("state", "due");
		});
	}

	@SuppressWarnings("unchecked")
	private static Map<String, String> late(ApplicationContext context) {
		Health health = health(context);
		assertThat(health.getStatus()).isEqualTo(Status.DOWN);
		return (Map<String, String>) Objects.requireNonNull(health.getDetails().get("late"));
	}

	private static String idOfFirst(ApplicationContext context) {
		return String.valueOf(context.getBean(JdbcTemplate.class)
			.queryForObject("select event_id from outbox_event order by created_at limit 1", UUID.class));
	}

	@Test
	void usesTheConfiguredAge() {
		start().withPropertyValues("idempotent.outbox.health.max-age=1h").run((context) -> {
			append(context, 301);
			assertThat(health(context).getStatus()).isEqualTo(Status.UP);
			append(context, 3601);
			assertThat(health(context).getStatus()).isEqualTo(Status.DOWN);
		});
	}

	@Test
	void isDownIfTheLastScanIsTooOld() {
		start().withPropertyValues("idempotent.outbox.health.max-age=1s").run((context) -> {
			await().untilAsserted(() -> assertThat(health(context).getStatus()).isEqualTo(Status.UP));
			await().untilAsserted(() -> assertThat(context.getBean(OutboxHealthIndicator.class).health().getStatus())
				.isEqualTo(Status.DOWN));
		});
	}

	@Test
	void isUnknownWithoutARelayInThisProcess() {
		start().withPropertyValues("idempotent.outbox.relay.enabled=false").run((context) -> {
			append(context, 3601);
			Health health = context.getBean(OutboxHealthIndicator.class).health();
			assertThat(health.getStatus()).isEqualTo(Status.UNKNOWN);
			assertThat(health.getDetails()).containsOnlyKeys("relay");
		});
	}

	@Test
	void isUpRegardlessOfTheNumberOfDeadEvents() {
		start().run((context) -> {
			context.getBean(JdbcTemplate.class)
				.update("insert into outbox_dead (id, lane, sequence, event_id, topic, type, content_type, payload, headers, created_at, attempts) "
						+ "values (1, 1, 1, random_uuid(), 'test:a', 'a', 'a', x'00', '{}', timestamp '2020-01-01 00:00:00', 10)");
			assertThat(health(context).getStatus()).isEqualTo(Status.UP);
		});
	}

	@Test
	void isDownWithoutItsDatabaseAndRevealsNoSecret() {
		start().withUserConfiguration(Away.class).run((context) -> {
			health(context);
			context.getBean(AwayDatabase.class).away = true;
			Health health = context.getBean(OutboxHealthIndicator.class).health();
			assertThat(health.getStatus()).isEqualTo(Status.DOWN);
			assertThat(health.getDetails()).containsOnlyKeys("database");
			assertThat(health.toString()).doesNotContain("s3cret");
		});
	}

	@Test
	void isUnknownWithoutTables() {
		start().withPropertyValues("idempotent.outbox.initialize-schema=never")
			.run((context) -> assertThat(context.getBean(OutboxHealthIndicator.class).health().getStatus())
				.isEqualTo(Status.UNKNOWN));
	}

	@Test
	void canBeSwitchedOff() {
		start().withPropertyValues("management.health.outbox.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(OutboxHealthIndicator.class));
	}

	@Test
	void refusesAnAgeOfZero() {
		start().withPropertyValues("idempotent.outbox.health.max-age=0s")
			.run((context) -> assertThat(context).getFailure()
				.hasRootCauseMessage("idempotent.outbox.health.max-age is PT0S."));
		start().withPropertyValues("idempotent.outbox.dead-retention=0s")
			.run((context) -> assertThat(context).getFailure()
				.hasRootCauseMessage("idempotent.outbox.dead-retention is PT0S."));
	}

	/**
	 * A relay that reads the table once, and when it is told to.
	 */
	private static ApplicationContextRunner start() {
		return OutboxApplication.with()
			.withPropertyValues("idempotent.outbox.relay.scan-interval=1h")
			.withConfiguration(AutoConfigurations.of(OutboxOperationsAutoConfiguration.class));
	}

	/**
	 * Appends an event that has no publisher here.
	 */
	private static void append(ApplicationContext context, int seconds) {
		context.getBean(JdbcTemplate.class)
			.update("insert into outbox_event (event_id, topic, type, payload, created_at) values (random_uuid(), "
					+ "'other:orders', 'order.created', x'00', dateadd(second, ?, current_timestamp(6)))", -seconds);
	}

	/**
	 * The health after another scan.
	 */
	private static Health health(ApplicationContext context) {
		OutboxEndpointIntegrationTests.awaitScan(context.getBean(OutboxRelay.class));
		return context.getBean(OutboxHealthIndicator.class).health();
	}

	@Configuration(proxyBeanMethods = false)
	static class Away {

		@Bean
		AwayDatabase database() {
			JdbcDataSource h2 = new JdbcDataSource();
			h2.setURL("jdbc:h2:mem:away;DB_CLOSE_DELAY=-1");
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
