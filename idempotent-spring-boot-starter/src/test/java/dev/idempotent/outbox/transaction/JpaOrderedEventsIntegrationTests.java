package dev.idempotent.outbox.transaction;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.testing.RealPostgres;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityListeners;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.MappedSuperclass;
import jakarta.persistence.PreUpdate;
import jakarta.persistence.Version;
import org.hibernate.FlushMode;
import org.hibernate.Session;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurationPackage;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.orm.ObjectOptimisticLockingFailureException;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The order of events of transactions that change the same entity, on PostgreSQL. There
 * is no relay, so that the events stay in their table.
 */
@Timeout(180)
class JpaOrderedEventsIntegrationTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private static ConfigurableApplicationContext context;

	@BeforeAll
	static void start() {
		List<String> all = new ArrayList<>(postgres.properties());
		all.addAll(List.of("spring.jpa.hibernate.ddl-auto=create", "spring.jpa.open-in-view=false",
				"idempotent.outbox.table-prefix=jpa_ordering_", "idempotent.outbox.order=key",
				"idempotent.outbox.relay.enabled=false"));
		context = OutboxApplication.start(all, Entities.class);
	}

	@AfterAll
	static void stop() {
		context.close();
	}

	@BeforeEach
	void createEntities() {
		database().sql("delete from jpa_ordering_event").update();
		database().sql("delete from stock").update();
		database().sql("delete from price").update();
		inTransaction(() -> {
			entities().persist(new Stock());
			entities().persist(new Price());
		});
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void ordersTheEventsOfAnEntityWithoutAVersionByItsUpdates(boolean late) {
		changeTwice(Stock.class, late).join();
		assertThat(value()).isEqualTo(events().get(1));
		assertThat(events()).containsExactly("first", "second");
	}

	@Test
	void appendsNoEventOfAVersionThatIsOutdated() {
		assertThatExceptionOfType(CompletionException.class).isThrownBy(changeTwice(Price.class, false)::join)
			.withCauseInstanceOf(ObjectOptimisticLockingFailureException.class);
		assertThat(events()).containsExactly("first");
	}

	/**
	 * Changes an entity in two transactions. The first one has inserted its events but
	 * not committed when the second one commits, or waits for its lock.
	 * @return the end of the second transaction
	 */
	private static CompletableFuture<Void> changeTwice(Class<? extends Named> type, boolean late) {
		CompletableFuture<Void> read = new CompletableFuture<>();
		CompletableFuture<Void> written = new CompletableFuture<>();
		CompletableFuture<Void> second = CompletableFuture.runAsync(() -> inTransaction(() -> {
			Named entity = entities().find(type, "one");
			read.complete(null);
			written.join();
			change(entity, "second", late);
		}));
		inTransaction(() -> {
			change(entities().find(type, "one"), "first", late);
			read.join();
			afterAllOthers(() -> {
				written.complete(null);
				await().until(() -> second.isDone() || someTransactionWaits());
			});
		});
		return second;
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void writesNoChangeThatTheApplicationFlushesManually(boolean late) {
		inTransaction(() -> {
			entities().unwrap(Session.class).setHibernateFlushMode(FlushMode.MANUAL);
			change(entities().find(Stock.class, "one"), "never written", late);
		});
		assertThat(events()).containsExactly("never written");
		assertThat(entities().find(Stock.class, "one").value).isEqualTo("new");
	}

	@Test
	void writesChangesDuringAReadOnlyTransactionOfAnotherDatabase() {
		LocalContainerEntityManagerFactoryBean other = new LocalContainerEntityManagerFactoryBean();
		other.setDataSource(new DriverManagerDataSource("jdbc:h2:mem:other"));
		other.setJpaVendorAdapter(new HibernateJpaVendorAdapter());
		other.setPackagesToScan("none");
		other.afterPropertiesSet();
		TransactionTemplate reading = new TransactionTemplate(
				new JpaTransactionManager(Objects.requireNonNull(other.getObject())));
		reading.setReadOnly(true);
		reading.executeWithoutResult((status) -> inTransaction(() -> {
			change(entities().find(Stock.class, "one"), "changed", false);
			afterAllOthers(() -> assertThat(value()).isEqualTo("changed"));
		}));
		other.destroy();
	}

	@Test
	void appendsTheEventsOfEntitiesThatAreFlushedForOrderedEvents() {
		inTransaction(() -> {
			append("early");
			entities().find(Price.class, "one").value = "priced";
		});
		assertThat(events()).containsExactly("early", "priced by callback");
	}

	@Test
	void appendsTheEventsOfAnEntityDuringALateFlush() {
		inTransaction(() -> {
			append("early");
			afterAllOthers(() -> {
				entities().find(Price.class, "one").value = "priced late";
				entities().flush();
			});
		});
		assertThat(events()).containsExactly("early", "priced late by callback");
	}

	@Test
	void appendsTheEventsOfAnEntityDuringTheFlushOfTheCommit() {
		inTransaction(() -> {
			append("early");
			afterAllOthers(() -> entities().find(Price.class, "one").value = "priced last");
		});
		assertThat(events()).containsExactly("early", "priced last by callback");
	}

	@Test
	void leavesPendingChangesToTheCommitForUnorderedEvents() {
		inTransaction(() -> {
			entities().find(Stock.class, "one").value = "changed";
			context.getBean(Outbox.class).append(OutboxEvent.of("unordered", "payload"));
			afterAllOthers(() -> assertThat(value()).isEqualTo("new"));
		});
		assertThat(value()).isEqualTo("changed");
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void writesAnEntityThatIsThePayloadWithItsVersion(boolean listed) {
		inTransaction(() -> {
			Price price = entities().find(Price.class, "one");
			price.value = "changed";
			context.getBean(Outbox.class).append(OutboxEvent.of("changed", listed ? List.of(price) : price));
		});
		assertThat(database().sql("select payload from jpa_ordering_event").query(byte[].class).single())
			.asString(StandardCharsets.UTF_8)
			.contains("\"version\":1");
	}

	@Test
	void appendsEventsOfSerializableTransactions() {
		for (int i = 0; i < 3; i++) {
			String type = "event " + i;
			TransactionTemplate serializable = template();
			serializable.setIsolationLevel(TransactionDefinition.ISOLATION_SERIALIZABLE);
			serializable.executeWithoutResult((status) -> {
				assertThat(value()).isNotNull();
				inTransaction(() -> append("inner of " + type));
				change(entities().find(Stock.class, "one"), type, false);
			});
		}
		assertThat(events()).containsExactly("inner of event 0", "event 0", "inner of event 1", "event 1",
				"inner of event 2", "event 2");
	}

	/**
	 * Changes an entity and appends an event of it.
	 * @param late after the first events of the transaction were inserted
	 */
	private static void change(Named entity, String value, boolean late) {
		if (late) {
			afterAllOthers(() -> change(entity, value, false));
		}
		else {
			entity.value = value;
			append(value);
		}
	}

	private static void append(String type) {
		context.getBean(Outbox.class).append(OutboxEvent.of(type, "payload").withKey("one"));
	}

	private static List<String> events() {
		return database().sql("select type from jpa_ordering_event order by id").query(String.class).list();
	}

	private static String value() {
		return database().sql("select value from stock").query(String.class).single();
	}

	/**
	 * Runs work before the commit, after all events were inserted.
	 */
	private static void afterAllOthers(Runnable work) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public int getOrder() {
				return Ordered.LOWEST_PRECEDENCE;
			}

			@Override
			public void beforeCommit(boolean readOnly) {
				work.run();
			}

		});
	}

	private static boolean someTransactionWaits() {
		return database()
			.sql("select exists(select from pg_stat_activity where wait_event_type = 'Lock' and "
					+ "query like '%update % set %')")
			.query(Boolean.class)
			.single();
	}

	private static JdbcClient database() {
		return context.getBean(JdbcClient.class);
	}

	private static EntityManager entities() {
		return context.getBean(EntityManager.class);
	}

	private static void inTransaction(Runnable work) {
		template().executeWithoutResult((status) -> work.run());
	}

	private static TransactionTemplate template() {
		TransactionTemplate template = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
		template.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		return template;
	}

	@Configuration(proxyBeanMethods = false)
	@AutoConfigurationPackage
	@ImportAutoConfiguration(HibernateJpaAutoConfiguration.class)
	static class Entities {

	}

	@MappedSuperclass
	abstract static class Named {

		@Id
		protected String id = "one";

		protected String value = "new";

	}

	@Entity(name = "Stock")
	static class Stock extends Named {

	}

	@Entity(name = "Price")
	@EntityListeners(Changes.class)
	static class Price extends Named {

		@Version
		@JsonProperty
		protected int version;

	}

	/**
	 * A listener that is a bean of the application.
	 */
	static class Changes {

		private final Outbox outbox;

		Changes(Outbox outbox) {
			this.outbox = outbox;
		}

		@PreUpdate
		void changed(Price price) {
			if (price.value.startsWith("priced")) {
				this.outbox.append(OutboxEvent.of(price.value + " by callback", "payload").withKey("one"));
			}
		}

	}

}
