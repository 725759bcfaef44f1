package dev.idempotent.autoconfigure.outbox;

import java.util.List;
import java.util.Set;

import javax.sql.DataSource;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.OutboxHandler;
import dev.idempotent.outbox.RecordingPublisher;
import dev.idempotent.outbox.TransactionalOutbox;
import dev.idempotent.outbox.relay.OutboxRelay;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for what switches the outbox on when an application starts.
 */
@ExtendWith(OutputCaptureExtension.class)
class OutboxOnDemandTests {

	private static final String NO_TABLES = "idempotent.outbox.initialize-schema=never";

	/**
	 * Left by applications of other tests.
	 */
	private final Set<Thread> before = Thread.getAllStackTraces().keySet();

	@Test
	void costsNothingWhereOnlyIdempotentMethodsAreUsed(CapturedOutput output) {
		OnDemandApplication.with()
			.withPropertyValues(NO_TABLES, "idempotent.jdbc.initialize-schema=never",
					"idempotent.outbox.dead-retention=1d")
			.run((context) -> {
				OnDemandApplication.CountingDataSource database = context
					.getBean(OnDemandApplication.CountingDataSource.class);
				bindMeters(context);
				assertThat(context.getBean("outboxHealthIndicator", HealthIndicator.class).health()).isNotNull()
					.extracting(Health::getStatus)
					.isEqualTo(Status.UNKNOWN);
				assertThat(database.connections()).isZero();
				context.getBean(OnDemandApplication.Payments.class)
					.pay("p-1", () -> assertThat(TransactionSynchronizationManager.getSynchronizations()).hasSize(1));
				assertThat(database.connections()).isOne();
				assertThat(context.getBeanFactory().containsSingleton("outboxRelay")).isFalse();
				assertThat(outboxMeters(context)).isEmpty();
				assertThat(threads()).isEmpty();
			});
		assertThat(output).contains("Outbox: off, because there is no @TransactionalOutbox method");
	}

	@Test
	void isOnWithAnAnnotatedMethod(CapturedOutput output) {
		OnDemandApplication.with(Annotated.class).run((context) -> {
			assertThat(manager(context).getTransactionExecutionListeners()).hasSize(1);
			assertThat(threads()).isNotEmpty();
			context.getBean(Orders.class).place("o-1");
			awaitDelivery(context);
		});
		assertThat(output).containsOnlyOnce("Outbox: on, because 1 @TransactionalOutbox method appends events; "
				+ "the relay delivers to test (default topic test:orders)");
	}

	@Test
	void reportsItsHandlers(CapturedOutput output) {
		OnDemandApplication.with(Handling.class).run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).containsOnlyOnce("Outbox: on, because 1 @OutboxHandler method handles events; "
				+ "the relay delivers to test (default topic test:orders) and 1 handler");
	}

	@Test
	void reportsItsHandlersWithoutAPublisher(CapturedOutput output) {
		OnDemandApplication.with(Handling.class)
			.withPropertyValues("idempotent.outbox.default-topic=handlers")
			.withInitializer((context) -> context.addBeanFactoryPostProcessor(
					(beans) -> ((BeanDefinitionRegistry) beans).removeBeanDefinition("publisher")))
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).containsOnlyOnce("; the relay delivers to 1 handler");
	}

	@Test
	void isOnWhereABeanRequestsTheOutbox(CapturedOutput output) {
		OnDemandApplication.with(Injected.class).run((context) -> {
			assertThat(manager(context).getTransactionExecutionListeners()).hasSize(1);
			assertThat(threads()).isNotEmpty();
			bindMeters(context);
			assertThat(outboxMeters(context)).contains("outbox.delivered", "outbox.events.pending");
		});
		assertThat(output).containsOnlyOnce("Outbox: on, because the Outbox has been requested");
	}

	@Test
	void isOnWithAnEnabledRelayWhichDeliversEventsOfOtherPrograms(CapturedOutput output) {
		OnDemandApplication.with().withPropertyValues("idempotent.outbox.relay.enabled=true").run((context) -> {
			new JdbcTemplate(context.getBean(DataSource.class))
				.update("insert into outbox_event (event_id, topic, type, payload) values (random_uuid(), "
						+ "'test:orders', 'order.created', x'00')");
			awaitDelivery(context);
		});
		assertThat(output).containsOnlyOnce("Outbox: on, because idempotent.outbox.relay.enabled is true");
	}

	@Test
	void refusesAnEnabledRelayWithoutTables() {
		OnDemandApplication.with()
			.withPropertyValues("idempotent.outbox.relay.enabled=true", NO_TABLES)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageStartingWith("The outbox relay could not deliver events: the database lacks "));
	}

	@Test
	void runsNoRelayThatIsDisabled(CapturedOutput output) {
		OnDemandApplication.with(Annotated.class)
			.withPropertyValues("idempotent.outbox.relay.enabled=false")
			.run((context) -> {
				context.getBean(Orders.class).place("o-1");
				assertThat(threads()).isEmpty();
				assertThat(new JdbcTemplate(context.getBean(DataSource.class))
					.queryForObject("select count(*) from outbox_event", Integer.class)).isOne();
			});
		assertThat(output).containsOnlyOnce("Outbox: on, because 1 @TransactionalOutbox method appends events; "
				+ "without a relay in this process (idempotent.outbox.relay.enabled is false)");
	}

	@Test
	void isOffInALazyApplicationUntilABeanRequestsTheOutbox(CapturedOutput output) {
		OnDemandApplication.with(Injected.class)
			.withInitializer(
					(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
			.run((context) -> {
				assertThat(output).contains("Outbox: off");
				context.getBean(Appender.class);
				assertThat(output).contains("Outbox: switched on, because the Outbox has been requested");
				assertThat(manager(context).getTransactionExecutionListeners()).hasSize(1);
			});
	}

	@Test
	void isOnInALazyApplicationWithAnAnnotatedMethod() {
		OnDemandApplication.with(Annotated.class)
			.withInitializer(
					(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
			.run((context) -> {
				assertThat(context.getBean(OutboxRelay.class).isRunning()).isTrue();
				context.getBean(Orders.class).place("o-1");
				awaitDelivery(context);
			});
	}

	@Test
	void stopsARelayThatStartsWhileTheApplicationStops() {
		OnDemandApplication.with(LastWords.class).run((context) -> {
		});
		await().untilAsserted(() -> assertThat(threads()).isEmpty());
	}

	private static void awaitDelivery(ApplicationContext context) {
		await().untilAsserted(() -> assertThat(context.getBean(RecordingPublisher.class).published()).hasSize(1));
	}

	private static ConfigurableTransactionManager manager(ApplicationContext context) {
		return context.getBean(ConfigurableTransactionManager.class);
	}

	private static void bindMeters(ApplicationContext context) {
		context.getBean("outboxGauges", MeterBinder.class).bindTo(context.getBean(MeterRegistry.class));
	}

	private static List<String> outboxMeters(ApplicationContext context) {
		return context.getBean(MeterRegistry.class)
			.getMeters()
			.stream()
			.map(Meter::getId)
			.map(Meter.Id::getName)
			.filter((name) -> name.startsWith("outbox."))
			.toList();
	}

	private List<String> threads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> !this.before.contains(thread))
			.map(Thread::getName)
			.filter((name) -> name.startsWith("outbox-"))
			.toList();
	}

	@Configuration(proxyBeanMethods = false)
	static class Annotated {

		@Bean
		Orders orders() {
			return new Orders();
		}

	}

	static class Orders {

		@Transactional
		@TransactionalOutbox(type = "order.created", payload = "#id")
		public void place(String id) {
		}

	}

	static class Handling {

		@OutboxHandler(type = "order.created", name = "handling.handle")
		void handle() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Injected {

		@Bean
		Appender appender(Outbox outbox) {
			return new Appender(outbox);
		}

	}

	/**
	 * Uses the outbox after the life cycle of the relay has been stopped.
	 */
	@Configuration(proxyBeanMethods = false)
	static class LastWords {

		@Bean
		SmartLifecycle lastWords(ObjectProvider<Outbox> outbox, PlatformTransactionManager transactions) {
			return new SmartLifecycle() {

				private boolean running;

				@Override
				public void start() {
					this.running = true;
				}

				@Override
				public void stop() {
					this.running = false;
					new TransactionTemplate(transactions).executeWithoutResult(
							(status) -> outbox.getObject().append(OutboxEvent.of("order.last", "o-1")));
				}

				@Override
				public boolean isRunning() {
					return this.running;
				}

				@Override
				public int getPhase() {
					return 0;
				}

			};
		}

	}

	record Appender(Outbox outbox) {

	}

}
