package dev.idempotent.outbox.transaction;

import java.util.List;

import javax.sql.DataSource;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.OutboxTransactionException;
import dev.idempotent.outbox.RecordingPublisher;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Events with the transaction managers of several databases.
 */
class OtherManagersTests {

	@Test
	void rejectAnEventInATransactionOnAnotherDatabase() {
		try (ConfigurableApplicationContext context = start()) {
			transaction(context, "otherManager").executeWithoutResult((status) -> assertRefused(context));
			transaction(context, "ownManager").executeWithoutResult((status) -> append(context, "own"));
			assertThat(events(context)).containsExactly("own");
		}
	}

	@Test
	void rejectAnEventInATransactionOnAnotherDatabaseWithinOneOnTheOutbox() {
		try (ConfigurableApplicationContext context = start()) {
			transaction(context, "ownManager").executeWithoutResult((outer) -> {
				append(context, "before");
				transaction(context, "otherManager").executeWithoutResult((inner) -> assertRefused(context));
				append(context, "after");
			});
			assertThat(events(context)).containsExactlyInAnyOrder("before", "after");
		}
	}

	/**
	 * Whose begin the outbox is not told of.
	 */
	@Test
	void rejectAnEventInATransactionOfAManagerThatIsNoBean() {
		try (ConfigurableApplicationContext context = start()) {
			TransactionTemplate other = withoutBean(context, "other");
			transaction(context, "ownManager").executeWithoutResult((outer) -> {
				append(context, "before");
				other.executeWithoutResult((inner) -> assertRefused(context));
				transaction(context, "otherManager")
					.executeWithoutResult((inner) -> other.executeWithoutResult((most) -> assertRefused(context)));
				append(context, "after");
			});
			withoutBean(context, "own").executeWithoutResult((outer) -> {
				append(context, "own");
				other.executeWithoutResult((inner) -> assertRefused(context));
			});
			assertThat(events(context)).containsExactlyInAnyOrder("before", "after", "own");
		}
	}

	@Test
	void appendAnEventInANewTransactionOfAManagerThatIsNoBean() {
		try (ConfigurableApplicationContext context = start()) {
			TransactionTemplate inner = withoutBean(context, "own");
			inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
			transaction(context, "ownManager").executeWithoutResult((outer) -> {
				append(context, "lost");
				inner.executeWithoutResult((status) -> append(context, "inner"));
				outer.setRollbackOnly();
			});
			assertThat(events(context)).containsExactly("inner");
		}
	}

	@Test
	void appendAnEventInATransactionOnTheOutboxWithinOneOnAnotherDatabase() {
		try (ConfigurableApplicationContext context = start()) {
			transaction(context, "otherManager").executeWithoutResult((outer) -> {
				transaction(context, "ownManager").executeWithoutResult((inner) -> append(context, "inner"));
				assertRefused(context);
				outer.setRollbackOnly();
			});
			assertThat(events(context)).containsExactly("inner");
		}
	}

	private static void assertRefused(ConfigurableApplicationContext context) {
		assertThatExceptionOfType(OutboxTransactionException.class).isThrownBy(() -> append(context, "lost"))
			.withMessageContaining("not on the outbox's database");
	}

	private static void append(ConfigurableApplicationContext context, String type) {
		context.getBean(Outbox.class).append(OutboxEvent.of(type, 1));
	}

	/**
	 * The events that were published before a later one.
	 */
	private static List<String> events(ConfigurableApplicationContext context) {
		RecordingPublisher publisher = context.getBean(RecordingPublisher.class);
		transaction(context, "ownManager").executeWithoutResult((status) -> append(context, "last"));
		JdbcClient database = JdbcClient.create(context.getBean(DataSource.class));
		await().until(() -> database.sql("select count(*) from outbox_event").query(Integer.class).single() == 0);
		return publisher.types().stream().filter((type) -> !type.equals("last")).toList();
	}

	private static TransactionTemplate transaction(ConfigurableApplicationContext context, String manager) {
		return new TransactionTemplate(context.getBean(manager, PlatformTransactionManager.class));
	}

	private static TransactionTemplate withoutBean(ConfigurableApplicationContext context, String database) {
		return new TransactionTemplate(new JdbcTransactionManager(context.getBean(database, DataSource.class)));
	}

	private static ConfigurableApplicationContext start() {
		return OutboxApplication.start(List.of("idempotent.outbox.relay.workers=1"), Databases.class);
	}

	@Configuration(proxyBeanMethods = false)
	static class Databases {

		@Bean
		@Primary
		DataSource own() {
			return new EmbeddedDatabaseBuilder().setType(EmbeddedDatabaseType.H2).generateUniqueName(true).build();
		}

		@Bean
		DataSource other() {
			return new EmbeddedDatabaseBuilder().setType(EmbeddedDatabaseType.H2).generateUniqueName(true).build();
		}

		@Bean
		PlatformTransactionManager ownManager(DataSource own) {
			return new JdbcTransactionManager(own);
		}

		@Bean
		PlatformTransactionManager otherManager(@Qualifier("other") DataSource other) {
			return new JdbcTransactionManager(other);
		}

	}

}
