package dev.idempotent.outbox.handler;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;

import javax.sql.DataSource;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.autoconfigure.startup.ImportStartupCheck;
import dev.idempotent.transaction.TransactionRequirementsTests.Chain;
import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.outbox.OutboxHandler;
import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.TransactionalOutbox;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.core.env.MapPropertySource;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.scheduling.annotation.Async;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Mistakes stop the application at startup, before an event is appended that nothing
 * handles.
 */
class HandlerMistakesTests {

	@Test
	void refusesTwoHandlersOfAName() {
		assertStops(TwoOfAName.class, "TwoOfAName.second()", "has the name 'book', as has", "TwoOfAName.first()");
		assertStops(Named.class, "has the invalid name 'has spaces'", "without spaces and colons");
		assertStops(Nameless.class, "has no name", "such as name = \"mail\"");
		assertStops(TooLong.class, "Set a name of 1 to 200 characters");
	}

	@Test
	void refusesAMethodThatCannotBeCalled() {
		assertStops(Hidden.class, "is private or static, so that a proxy cannot intercept it");
		assertStops(Final.class, "is final, or package-private in another package");
		assertStops(Later.class, "may return before its work is done");
		assertStops(Published.class, "may return before its work is done");
		assertStops(Asynchronous.class, "may return before its work is done");
		assertStops(Prototypes.class, "belongs to a prototype bean", "Make the bean a singleton");
		assertStops(ScopedPrototypes.class, "belongs to a prototype bean");
	}

	@Test
	void refusesParametersThatCannotBeFilled() {
		assertStops(TwoPayloads.class, "has 0 parameters for headers and 2 for the payload");
		assertStops(TwoHeaders.class, "has 2 parameters for headers and 0 for the payload");
		assertStops(NoType.class, "has no type");
	}

	@Test
	void refusesABatchThatCannotBeFilled() {
		assertStops(NoBatch.class, "has a batch of 0", "Set at least 1");
		assertStops(NoList.class, "takes up to 10 events at once, but its only parameter is not a List of payloads",
				"such as List<Order>");
		assertStops(ListAndHeaders.class, "but its only parameter is not a List of payloads");
		assertStops(UnknownList.class, "but its only parameter is not a List of payloads");
		assertStops(ListWithoutTransaction.class, "takes up to 10 events at once, but not in a transaction",
				"leave out transactional = false");
	}

	@Test
	void refusesATransactionThatDoesNotContainTheWork() {
		assertStops(Separate.class, "does not join the transaction that removes the event");
		assertStops(Nested.class, "does not join the transaction that removes the event");
		assertStops(ReadOnly.class, "does not join the transaction that removes the event");
		assertStops(NoManager.class, "and there is no transaction manager, or several", "transactional = false");
		assertStops(OtherDatabase.class, "DataSourceTransactionManager) does not work on the application's DataSource",
				"in its @Transactional, or set transactional = false");
		assertStops(SeveralDatabases.class, "Chain) commits the transactions of several databases one after another",
				"Name the manager of one DataSource in its @Transactional", "transactional = false");
	}

	@Test
	void refusesAHandlerWithoutAnOutbox() {
		ApplicationContextRunner checked = OutboxApplication.with(Fine.class)
			.withConfiguration(AutoConfigurations.of(ImportStartupCheck.CLASS));
		checked.run((context) -> assertThat(context).hasNotFailed());
		assertStops(checked.withPropertyValues("idempotent.outbox.enabled=false"),
				"would have no effect: idempotent.outbox.enabled is false", "Remove the property");
		assertStops(
				new ApplicationContextRunner().withUserConfiguration(Fine.class)
					.withConfiguration(AutoConfigurations.of(ImportStartupCheck.CLASS)),
				"would have no effect: the auto-configuration of its feature is excluded", "Do not exclude");
		assertStops(OutboxApplication.with(Fine.class).withPropertyValues("idempotent.outbox.initialize-schema=never"),
				"There is an @OutboxHandler method, and ");
	}

	@Test
	void refusesEventsThatNothingHandles() {
		assertStops(Unhandled.class, "No @OutboxHandler method of this application handles events of the type 'gone'",
				"annotate a method of a bean with @OutboxHandler and the same type");
		assertStops(Reserved.class, "has the prefix 'handlers', which belongs to @OutboxHandler");
	}

	@Test
	void refusesPropertiesOfUnknownHandlers() {
		assertStops(OutboxApplication.with(Fine.class).withPropertyValues("idempotent.outbox.handlers.leases.gone=5s"),
				"idempotent.outbox.handlers.leases.gone names a handler that does not exist; the handlers are [fine]");
		assertStops(
				OutboxApplication.with(Fine.class)
					.withInitializer((context) -> context.getEnvironment()
						.getPropertySources()
						.addFirst(new MapPropertySource("unknown",
								Map.of("idempotent.outbox.topics.[handlers:gone].on-dead", "block")))),
				"idempotent.outbox.topics.[handlers:gone] names a handler that does not exist");
		assertStops(
				OutboxApplication.with(Fine.class)
					.withPropertyValues("idempotent.outbox.handlers.concurrencies.fine=0"),
				"idempotent.outbox.handlers.concurrencies.fine is 0");
		assertStops(OutboxApplication.with(Fine.class).withPropertyValues("idempotent.outbox.handlers.lease=0"),
				"idempotent.outbox.handlers.lease");
	}

	/**
	 * Each connection would belong to a transaction whose work may need a second one.
	 */
	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void warnOfMoreThreadsThanConnections(CapturedOutput output) {
		String warning = "hold up to 3 connections in transactions, and the pool has 3";
		startWithPool(4);
		assertThat(output).doesNotContain("connections in transactions");
		startWithPool(3, "idempotent.outbox.relay.enabled=false");
		assertThat(output).doesNotContain("connections in transactions");
		startWithPool(3);
		assertThat(output).containsOnlyOnce(warning);
	}

	private static void startWithPool(int size, String... properties) {
		OutboxApplication.with(Fine.class)
			.withPropertyValues("spring.datasource.hikari.maximum-pool-size=" + size,
					"idempotent.outbox.handlers.concurrency=3")
			.withPropertyValues(properties)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	/**
	 * That context would append events for its own handlers only.
	 */
	@Test
	void refusesHandlersBesideTheOutboxOfAParentContext() {
		OutboxApplication.with()
			.run((parent) -> assertStops(OutboxApplication.with(Fine.class).withParent(parent),
					"The Outbox is a bean of the parent context", "the handlers [fine]"));
	}

	@Test
	void acceptsWhatIsRight() {
		OutboxApplication.with(Fine.class, Outside.class)
			.withPropertyValues("idempotent.outbox.handlers.leases.fine=5s",
					"idempotent.outbox.handlers.concurrencies.fine=2", "idempotent.outbox.default-topic=handlers")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context.getBean(OutboxHandlers.class).all())
					.extracting((handler) -> handler.topic() + " " + handler.concurrency() + " " + handler.lease())
					.containsExactly("handlers:fine 2 PT5S", "handlers:outside 1 PT1M");
			});
	}

	private static void assertStops(Class<?> mistake, String... messages) {
		assertStops(OutboxApplication.with(mistake), messages);
	}

	private static void assertStops(ApplicationContextRunner runner, String... messages) {
		runner.run((context) -> {
			assertThat(context).hasFailed();
			Throwable cause = Objects.requireNonNull(context.getStartupFailure());
			while (!(cause instanceof IdempotentConfigurationException) && cause.getCause() != null) {
				cause = cause.getCause();
			}
			String text = cause.getMessage()
					+ ((cause instanceof IdempotentConfigurationException known) ? known.getAction() : "");
			assertThat(text).contains(messages);
		});
	}

	static class NoBatch {

		@OutboxHandler(type = "fine", name = "fine", batch = 0)
		void handle(List<String> payloads) {
		}

	}

	static class NoList {

		@OutboxHandler(type = "fine", name = "fine", batch = 10)
		void handle(String payload) {
		}

	}

	static class ListAndHeaders {

		@OutboxHandler(type = "fine", name = "fine", batch = 10)
		void handle(List<String> payloads, Map<String, String> headers) {
		}

	}

	@SuppressWarnings("rawtypes")
	static class UnknownList {

		@OutboxHandler(type = "fine", name = "fine", batch = 10)
		void handle(List payloads) {
		}

	}

	static class ListWithoutTransaction {

		@OutboxHandler(type = "fine", name = "fine", batch = 10, transactional = false)
		void handle(List<String> payloads) {
		}

	}

	static class Fine {

		@OutboxHandler(type = "fine", name = "fine")
		void handle() {
		}

	}

	static class Outside {

		@OutboxHandler(type = "fine", name = "outside", transactional = false)
		void handle(byte[] payload, Map<String, String> headers) {
		}

	}

	static class TwoOfAName {

		@OutboxHandler(type = "one", name = "book")
		void first() {
		}

		@OutboxHandler(type = "two", name = "book")
		void second() {
		}

	}

	static class Named {

		@OutboxHandler(type = "one", name = "has spaces")
		void handle() {
		}

	}

	static class Nameless {

		@OutboxHandler(type = "one", name = "")
		void handle() {
		}

	}

	static class TooLong {

		@OutboxHandler(type = "one",
				name = "😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀")
		void handle() {
		}

	}

	@Scope("prototype")
	static class Prototypes {

		@OutboxHandler(type = "one", name = "prototypes.handle")
		public void handle() {
		}

	}

	@Scope(scopeName = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
	static class ScopedPrototypes extends Prototypes {

	}

	static class Hidden {

		@OutboxHandler(type = "one", name = "hidden.handle")
		@SuppressWarnings("UnusedMethod")
		private void handle() {
		}

	}

	static class Final {

		@OutboxHandler(type = "one", name = "final.handle")
		public final void handle() {
		}

		@Transactional
		public void advised() {
		}

	}

	static class Later {

		@OutboxHandler(type = "one", name = "later.handle")
		CompletableFuture<String> handle() {
			return new CompletableFuture<>();
		}

	}

	static class Published {

		@OutboxHandler(type = "one", name = "published.handle")
		Flow.Publisher<String> handle() {
			return (subscriber) -> {
			};
		}

	}

	@Async
	static class Asynchronous {

		@OutboxHandler(type = "one", name = "asynchronous.handle")
		public void handle() {
		}

	}

	static class TwoPayloads {

		@OutboxHandler(type = "one", name = "twoPayloads.handle")
		void handle(String one, String two) {
		}

	}

	static class TwoHeaders {

		@OutboxHandler(type = "one", name = "twoHeaders.handle")
		void handle(Map<String, String> one, Map<String, String> two) {
		}

	}

	static class NoType {

		@OutboxHandler(type = "", name = "noType.handle")
		void handle() {
		}

	}

	static class Separate {

		@Transactional(propagation = Propagation.REQUIRES_NEW)
		@OutboxHandler(type = "one", name = "separate.handle")
		public void handle() {
		}

	}

	/**
	 * Marked as rollback-only, it would be rolled back to its savepoint without a word.
	 */
	static class Nested {

		@Transactional(propagation = Propagation.NESTED)
		@OutboxHandler(type = "one", name = "nested.handle")
		public void handle() {
		}

	}

	static class ReadOnly {

		@Transactional(readOnly = true)
		@OutboxHandler(type = "one", name = "readOnly.handle")
		public void handle() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class NoManager extends Fine {

		@Bean
		PlatformTransactionManager one(DataSource dataSource) {
			return new DataSourceTransactionManager(dataSource);
		}

		@Bean
		PlatformTransactionManager two(DataSource dataSource) {
			return new DataSourceTransactionManager(dataSource);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OtherDatabase extends Fine {

		@Bean
		@Primary
		PlatformTransactionManager other() {
			return new DataSourceTransactionManager(
					new SimpleDriverDataSource(new org.h2.Driver(), "jdbc:h2:mem:other-handlers"));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class SeveralDatabases extends Fine {

		@Bean
		PlatformTransactionManager chain(DataSource dataSource) {
			return new Chain(new DataSourceTransactionManager(dataSource), new DataSourceTransactionManager(
					new SimpleDriverDataSource(new org.h2.Driver(), "jdbc:h2:mem:other-handlers")));
		}

	}

	static class Unhandled {

		@Transactional
		@TransactionalOutbox(type = "gone", topic = "handlers")
		public String place() {
			return "placed";
		}

	}

	static class Reserved implements OutboxPublisher {

		@Override
		public String prefix() {
			return "handlers";
		}

		@Override
		public List<Outcome> publish(List<SerializedEvent> events) {
			throw new IllegalStateException("Is never called");
		}

	}

}
