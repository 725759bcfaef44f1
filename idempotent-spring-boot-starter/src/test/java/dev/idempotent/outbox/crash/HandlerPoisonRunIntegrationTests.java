package dev.idempotent.outbox.crash;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import dev.idempotent.autoconfigure.outbox.ImportOutbox;
import dev.idempotent.jdbc.Database;
import dev.idempotent.outbox.OutboxHandler;
import dev.idempotent.outbox.jdbc.LaneHash;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RestartedApplication;
import dev.idempotent.testing.Tally;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcClientAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionManagerCustomizationAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.util.FileSystemUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * An event that ends the process of each handler that is called with it.
 */
@Tag("long")
@DisabledOnOs(value = OS.WINDOWS, disabledReason = "its processes know no signals")
class HandlerPoisonRunIntegrationTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.dedicated();

	private static final String TOPIC = "handlers:book";

	private static final String POISON = "poison";

	private static final int ATTEMPTS = 2;

	private final Tally tally = new Tally();

	/**
	 * The first attempt of each is not counted if both begin at the same instant.
	 */
	@Test
	void endsAfterItsAttemptsAndTheOthersAreHandledOnce() throws IOException {
		JdbcClient database = createTables();
		insert(database, POISON, "key");
		insert(database, "next", "key");
		IntStream.range(0, 50).forEach((i) -> insert(database, "other-" + i, null));
		Path folder = Path.of("target", "poison-crash");
		FileSystemUtils.deleteRecursively(folder);
		Files.createDirectories(folder);
		List<String> arguments = new ArrayList<>(List.of("--spring.main.web-application-type=none",
				"--spring.main.banner-mode=off", "--spring.main.keep-alive=true", "--idempotent.namespace=poison",
				"--logging.level.root=warn", "--idempotent.outbox.handlers.attempts=" + ATTEMPTS,
				"--idempotent.outbox.handlers.lease=2s", "--idempotent.outbox.handlers.concurrency=3"));
		postgres.properties().forEach((property) -> arguments.add("--" + property));
		List<RestartedApplication> instances = Stream.of("one", "two")
			.map((name) -> new RestartedApplication(name, Application.class, 0, arguments, folder, this.tally))
			.toList();
		try {
			await().atMost(Duration.ofMinutes(3))
				.until(() -> database.sql("select count(*) from outbox_event").query(Integer.class).single() == 0);
		}
		finally {
			instances.forEach(RestartedApplication::close);
		}
		assertThat(this.tally.sum("halt at " + POISON)).isBetween(2L, ATTEMPTS + 2L);
		assertThat(database.sql("select topic from outbox_dead").query(String.class).list()).containsExactly(TOPIC);
		assertThat(database.sql("select id from poison_work").query(String.class).list()).hasSize(51)
			.doesNotHaveDuplicates()
			.contains("next")
			.doesNotContain(POISON);
	}

	private static JdbcClient createTables() {
		new ResourceDatabasePopulator(new ClassPathResource(Database.script("postgresql", "outbox")))
			.execute(postgres.connect());
		JdbcClient database = JdbcClient.create(postgres.connect());
		database.sql("create table poison_work (id varchar(40) not null)").update();
		return database;
	}

	private static void insert(JdbcClient database, String id, @Nullable String key) {
		database
			.sql("insert into outbox_event (lane, event_id, topic, event_key, type, payload, content_type) "
					+ "values (?, ?, ?, ?, 'type', ?, 'text/plain')")
			.param(LaneHash.of(TOPIC, key))
			.param(UUID.randomUUID())
			.param(TOPIC)
			.param(key)
			.param(id.getBytes(StandardCharsets.UTF_8))
			.update();
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ PropertyPlaceholderAutoConfiguration.class, DataSourceAutoConfiguration.class,
			DataSourceTransactionManagerAutoConfiguration.class, TransactionAutoConfiguration.class,
			TransactionManagerCustomizationAutoConfiguration.class, JdbcTemplateAutoConfiguration.class,
			JdbcClientAutoConfiguration.class, JacksonAutoConfiguration.class })
	@ImportOutbox
	static class Application {

		@Bean
		Poisoned poisoned(JdbcClient database) {
			return new Poisoned(database);
		}

	}

	static class Poisoned {

		private final JdbcClient database;

		Poisoned(JdbcClient database) {
			this.database = database;
		}

		@OutboxHandler(type = "type", name = "book")
		public void book(String id) {
			this.database.sql("insert into poison_work values (?)").param(id).update();
			if (id.equals(POISON)) {
				RestartedApplication.halt(POISON);
			}
		}

	}

}
