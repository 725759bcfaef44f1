package dev.idempotent.outbox.method;

import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;

import javax.sql.DataSource;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.jdbc.DatabaseRequirementsTests;
import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.outbox.RecordingPublisher;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.TransactionalOutbox;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.jta.JtaTransactionManager;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.WebAsyncTask;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Mistakes stop the application at start-up, before an event is lost.
 */
@ExtendWith(OutputCaptureExtension.class)
class OutboxMistakesTests {

	@Test
	void refusesAnInvalidExpression() {
		assertStops(BadSyntax.class, "#result.", "BadSyntax.place");
		assertStops(UnknownVariable.class, "there is no variable #order", "#result");
		assertStops(ReachesTypes.class, "is not allowed, only the variables #result");
		assertStops(ItemWithoutForEach.class, "there is no variable #item");
		assertStops(StatusInPayload.class, "there is no variable #status", "condition");
	}

	@Test
	void refusesAnUnavailableResult() {
		assertStops(ReturnsNothing.class, "returns nothing", "payload");
		assertStops(ReturnsNoBody.class, "returns nothing", "payload");
		assertStops(NoStatus.class, "refers to #status, and is not a web handler", "ResponseEntity");
		assertStops(ReturnsLater.class,
				"returns a CompletableFuture, whose value may be known only after its transaction");
	}

	@ParameterizedTest
	@ValueSource(classes = { LaterFuture.class, LaterStage.class, LaterCallable.class, LaterDeferred.class,
			LaterTask.class, LaterReactive.class, LaterStream.class, LaterEmitter.class, LaterInAnEntity.class })
	void refusesAWebHandlerThatRespondsLater(Class<?> handler) {
		assertStops(handler, handler.getSimpleName() + ".place", "is a web handler that responds asynchronously",
				"Return the response itself");
	}

	@Test
	void refusesAnAmbiguousParameter() {
		assertStops(ParameterNamedResult.class, "a parameter named 'result'", "the result of the method");
		assertStops(ParameterNamedItem.class, "a parameter named 'item'", "an element of the payload");
	}

	@Test
	void refusesATopicWithoutPublisher() {
		assertStops(UnknownTopic.class, "kafka:orders", "test:");
		OutboxApplication.with(Fine.class)
			.withPropertyValues("idempotent.outbox.default-topic=kafka:orders")
			.run((context) -> assertThat(context).getFailure().rootCause().hasMessageContaining("kafka:orders"));
		OutboxApplication.with(Fine.class)
			.withPropertyValues("idempotent.outbox.default-topic=")
			.run((context) -> assertThat(context).hasFailed());
	}

	@Test
	void tellsOfATopicThatNoMethodAppendsTo(CapturedOutput output) {
		OutboxApplication.with(Fine.class)
			.withInitializer(onDeadOf("test:ordres"))
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output)
			.containsOnlyOnce(
					"No @TransactionalOutbox method appends to the topic of idempotent.outbox.topics.[test:ordres]")
			.contains("the topics are [test:orders]");
	}

	@Test
	void isSilentAboutATopicThatAMethodAppendsTo(CapturedOutput output) {
		OutboxApplication.with(Fine.class)
			.withInitializer(onDeadOf("test:orders"))
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).doesNotContain("No @TransactionalOutbox method appends to the topic");
	}

	/**
	 * Not a property as text, in which the colon would end the name.
	 */
	private static ApplicationContextInitializer<ConfigurableApplicationContext> onDeadOf(String topic) {
		return (context) -> TestPropertyValues.of(Map.of("idempotent.outbox.topics.[" + topic + "].on-dead", "block"))
			.applyTo(context);
	}

	@Test
	void refusesAPlaceholderWithoutAValue() {
		assertStops(Placeholder.class, "has the topic 'test:${shop.topic}', which has a placeholder without a value",
				"Set the property that it names");
		OutboxApplication.with(Fine.class)
			.withPropertyValues("idempotent.outbox.default-topic=test:${shop.topic}")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("Could not resolve placeholder 'shop.topic'"));
		OutboxApplication.with(Placeholder.class)
			.withPropertyValues("shop.topic=")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("No publisher serves the topic 'test:'"));
	}

	@Test
	void replacesThePlaceholdersOfTopics() {
		OutboxApplication.with(Placeholder.class)
			.withPropertyValues("shop.topic=orders-eu", "shop.other=other",
					"idempotent.outbox.default-topic=test:${shop.other}-${shop.more:x}")
			.run((context) -> {
				context.getBean(Placeholder.class).place();
				context.getBean(Placeholder.class).cancel();
				RecordingPublisher publisher = context.getBean(RecordingPublisher.class);
				await().untilAsserted(() -> assertThat(publisher.published()).extracting(SerializedEvent::topic)
					.containsExactlyInAnyOrder("test:orders-eu", "test:other-x"));
			});
	}

	@Test
	void refusesAMethodThatCannotBeAdvised() {
		assertStops(Hidden.class, "is private or static");
		assertStops(NoType.class, "has no type");
	}

	@Test
	void refusesToStartWithoutTables() {
		OutboxApplication.with(Fine.class)
			.withPropertyValues("idempotent.outbox.initialize-schema=never")
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(IdempotentConfigurationException.class)
				.hasMessageContaining("the database lacks the tables of the outbox (outbox_event, ")
				.extracting((failure) -> ((IdempotentConfigurationException) failure).getAction())
				.asString()
				.startsWith("Run the script dev/idempotent/schema/<database>/outbox.sql")
				.endsWith("or set idempotent.outbox.initialize-schema=always."));
	}

	@Test
	void refusesASchemaThatDoesNotExist() {
		assertStops(
				OutboxApplication.with(Fine.class).withPropertyValues("idempotent.outbox.table-prefix=nowhere.outbox_"),
				"The tables of the script class path resource [dev/idempotent/schema/h2/outbox.sql] could not be created: ",
				"Schema \"NOWHERE\" not found",
				"Create the schema that the names of the tables or the connection state");
	}

	@Test
	void refusesToStartWithoutADatabase() {
		OutboxApplication.with(Fine.class, TwoDatabases.class)
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining("no one database to append events in"));
	}

	@Test
	void refusesARoutingDataSource() {
		for (Class<?> application : new Class<?>[] { Fine.class, NoMethod.class }) {
			OutboxApplication.with(application)
				.withBean(DataSource.class, DatabaseRequirementsTests.ByTenant::new)
				.run((context) -> assertThat(context).getFailure()
					.hasStackTraceContaining("ByTenant routes to several databases"));
		}
	}

	@Test
	void refusesJta() {
		OutboxApplication.with(Fine.class)
			.withBean("transactionManager", JtaTransactionManager.class, () -> new JtaTransactionManager() {

				@Override
				public void afterPropertiesSet() {
					// There is no server to look it up in.
				}

			})
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining("is one of JTA, which is not supported"));
	}

	private static void assertStops(Class<?> bean, String... messages) {
		assertStops(OutboxApplication.with(bean), messages);
	}

	private static void assertStops(ApplicationContextRunner application, String... messages) {
		application.run((context) -> {
			Throwable failure = context.getStartupFailure();
			while (failure != null && !(failure instanceof IdempotentConfigurationException)) {
				failure = failure.getCause();
			}
			assertThat(failure).as("%s", context.getStartupFailure())
				.isInstanceOfSatisfying(IdempotentConfigurationException.class,
						(mistake) -> assertThat(mistake.getMessage() + mistake.getAction()).contains(messages));
		});
	}

	static class Fine {

		@Transactional
		@TransactionalOutbox(type = "order.created")
		String place() {
			return "placed";
		}

	}

	static class StatusInPayload {

		@Transactional
		@TransactionalOutbox(type = "order.created", payload = "#status")
		ResponseEntity<String> place() {
			return ResponseEntity.ok("placed");
		}

	}

	static class NoStatus {

		@Transactional
		@TransactionalOutbox(type = "order.created", condition = "#status < 300")
		String place() {
			return "placed";
		}

	}

	static class ReturnsNoBody {

		@Transactional
		@TransactionalOutbox(type = "order.created")
		ResponseEntity<Void> place() {
			return ResponseEntity.noContent().build();
		}

	}

	static class Placeholder {

		@Transactional
		@TransactionalOutbox(type = "order.created", topic = "test:${shop.topic}")
		public String place() {
			return "placed";
		}

		@Transactional
		@TransactionalOutbox(type = "order.cancelled")
		public String cancel() {
			return "cancelled";
		}

	}

	static class NoMethod {

	}

	static class BadSyntax {

		@TransactionalOutbox(type = "order.created", key = "#result.")
		String place() {
			return "placed";
		}

	}

	static class UnknownVariable {

		@TransactionalOutbox(type = "order.created", payload = "#order")
		String place() {
			return "placed";
		}

	}

	static class ReachesTypes {

		@TransactionalOutbox(type = "order.created", payload = "T(java.lang.Runtime).getRuntime()")
		String place() {
			return "placed";
		}

	}

	static class ParameterNamedResult {

		@Transactional
		@TransactionalOutbox(type = "order.created", payload = "#result")
		public String place(String result) {
			return result;
		}

	}

	static class ParameterNamedItem {

		@Transactional
		@TransactionalOutbox(type = "order.created", payload = "#orders", forEach = true, key = "#item")
		public void place(List<String> orders, String item) {
		}

	}

	static class ItemWithoutForEach {

		@TransactionalOutbox(type = "order.created", key = "#item")
		String place() {
			return "placed";
		}

	}

	static class ReturnsNothing {

		@TransactionalOutbox(type = "order.created")
		void place() {
		}

	}

	static class ReturnsLater {

		@TransactionalOutbox(type = "order.created")
		CompletableFuture<String> place() {
			return CompletableFuture.completedFuture("placed");
		}

	}

	@RestController
	static class LaterFuture {

		@PostMapping("/orders")
		@Transactional
		@TransactionalOutbox(type = "order.created", payload = "#order", condition = "#status < 400")
		public CompletableFuture<String> place(String order) {
			throw new UnsupportedOperationException();
		}

	}

	@RestController
	static class LaterStage {

		@PostMapping("/orders")
		@Transactional
		@TransactionalOutbox(type = "order.created", payload = "#order", condition = "#status < 400")
		public CompletionStage<String> place(String order) {
			throw new UnsupportedOperationException();
		}

	}

	@RestController
	static class LaterCallable {

		@PostMapping("/orders")
		@Transactional
		@TransactionalOutbox(type = "order.created", payload = "#order", condition = "#status < 400")
		public Callable<String> place(String order) {
			throw new UnsupportedOperationException();
		}

	}

	@RestController
	static class LaterDeferred {

		@PostMapping("/orders")
		@Transactional
		@TransactionalOutbox(type = "order.created", payload = "#order", condition = "#status < 400")
		public DeferredResult<String> place(String order) {
			throw new UnsupportedOperationException();
		}

	}

	@RestController
	static class LaterTask {

		@PostMapping("/orders")
		@Transactional
		@TransactionalOutbox(type = "order.created", payload = "#order", condition = "#status < 400")
		public WebAsyncTask<String> place(String order) {
			throw new UnsupportedOperationException();
		}

	}

	@RestController
	static class LaterReactive {

		@PostMapping("/orders")
		@Transactional
		@TransactionalOutbox(type = "order.created", payload = "#order", condition = "#status < 400")
		public Flow.Publisher<String> place(String order) {
			throw new UnsupportedOperationException();
		}

	}

	@RestController
	static class LaterStream {

		@PostMapping("/orders")
		@Transactional
		@TransactionalOutbox(type = "order.created", payload = "#order", condition = "#status < 400")
		public StreamingResponseBody place(String order) {
			throw new UnsupportedOperationException();
		}

	}

	@RestController
	static class LaterEmitter {

		@PostMapping("/orders")
		@Transactional
		@TransactionalOutbox(type = "order.created", payload = "#order", condition = "#status < 400")
		public SseEmitter place(String order) {
			throw new UnsupportedOperationException();
		}

	}

	@RestController
	static class LaterInAnEntity {

		@PostMapping("/orders")
		@Transactional
		@TransactionalOutbox(type = "order.created", payload = "#order", condition = "#status < 400")
		public ResponseEntity<StreamingResponseBody> place(String order) {
			throw new UnsupportedOperationException();
		}

	}

	static class UnknownTopic {

		@TransactionalOutbox(type = "order.created", topic = "kafka:orders")
		String place() {
			return "placed";
		}

	}

	static class NoType {

		@TransactionalOutbox(type = " ")
		String place() {
			return "placed";
		}

	}

	static class Hidden {

		@TransactionalOutbox(type = "order.created")
		private String place() {
			return "placed";
		}

		String call() {
			return place();
		}

	}

	/**
	 * Two databases, of which none is primary.
	 */
	@Configuration(proxyBeanMethods = false)
	static class TwoDatabases {

		@Bean
		DataSource one() {
			return new DriverManagerDataSource("jdbc:h2:mem:one");
		}

		@Bean
		DataSource other() {
			return new DriverManagerDataSource("jdbc:h2:mem:other");
		}

	}

}
