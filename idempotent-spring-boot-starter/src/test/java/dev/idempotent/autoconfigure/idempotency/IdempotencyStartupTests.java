package dev.idempotent.autoconfigure.idempotency;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.DispatcherServletAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Controller;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.HttpRequestHandler;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerExecutionChain;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link IdempotencyStartup}.
 */
@ExtendWith(OutputCaptureExtension.class)
class IdempotencyStartupTests {

	private static final String[] DATABASE = { "spring.datasource.url=jdbc:h2:mem:startup",
			"idempotent.jdbc.initialize-schema=always", "idempotent.store=redis" };

	private final WebApplicationContextRunner application = new WebApplicationContextRunner()
		.withPropertyValues("idempotent.namespace=shop")
		.withUserConfiguration(Application.class);

	@Test
	void logsTheStoreTheGuaranteeAndTheNumberOfHandlers(CapturedOutput output) {
		this.application.withUserConfiguration(Orders.class, Payments.class)
			.run((context) -> assertThat(output)
				.containsOnlyOnce("Idempotency: 3 handlers under LEASE (keys in Redis)\n"));
	}

	@Test
	void countsOneHandlerInTheSingular(CapturedOutput output) {
		this.application.withUserConfiguration(Payments.class)
			.run((context) -> assertThat(output)
				.containsOnlyOnce("Idempotency: 1 handler under LEASE (keys in Redis)\n"));
	}

	@Test
	void startsWithoutAnyHandler(CapturedOutput output) {
		this.application.run((context) -> assertThat(output)
			.containsOnlyOnce("Idempotency: no annotated handlers or methods (Redis)\n"));
	}

	@Test
	void readsTheApplicationsMappingAndNotThatOfTheActuator(CapturedOutput output) {
		new WebApplicationContextRunner().withUserConfiguration(OperatedApplication.class, Payments.class)
			.withPropertyValues("idempotent.namespace=shop", "management.endpoints.web.exposure.include=*")
			.run((context) -> {
				assertThat(context).getBeanNames(RequestMappingHandlerMapping.class).hasSizeGreaterThan(1);
				assertThat(output).containsOnlyOnce("Idempotency: 1 handler under LEASE (keys in Redis)\n");
			});
	}

	@Test
	void readsTheAnnotationsOfALazyApplicationToo(CapturedOutput output) {
		this.application.withBean("orders", Orders.class)
			.withInitializer(
					(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
			.run((context) -> {
				assertThat(context.getBeanFactory().containsSingleton("orders")).isFalse();
				assertThat(output).containsOnlyOnce("Idempotency: 2 handlers under LEASE (keys in Redis)\n");
			});
	}

	@Test
	void logsHandlersAndMethodsUnderEachGuarantee(CapturedOutput output) {
		this.application.withUserConfiguration(Orders.class, Payments.class, Vouchers.class)
			.withPropertyValues("spring.datasource.url=jdbc:h2:mem:startup", "idempotent.jdbc.initialize-schema=always",
					"idempotent.store=redis", "idempotent.guarantee=transaction")
			.run((context) -> assertThat(output).containsOnlyOnce(
					"Idempotency: 3 handlers and 1 method under TRANSACTION (records in the database, Redis in front), "
							+ "1 method under LEASE (keys in Redis)\n"));
	}

	@Test
	void logsThatOneDatabaseHasAllKeys(CapturedOutput output) {
		this.application.withUserConfiguration(Payments.class, Vouchers.class)
			.withPropertyValues("spring.datasource.url=jdbc:h2:mem:startup", "idempotent.jdbc.initialize-schema=always",
					"idempotent.store=jdbc")
			.run((context) -> assertThat(output)
				.containsOnlyOnce("Idempotency: 1 method under TRANSACTION (records in the database), "
						+ "1 handler and 1 method under LEASE (keys in Database)\n"));
	}

	@Test
	void namesWhatRunsUnderLeaseByDefaultAlthoughTransactionsAreThere(CapturedOutput output) {
		this.application.withUserConfiguration(Orders.class, Vouchers.class)
			.withPropertyValues(DATABASE)
			.withPropertyValues("idempotent.web.required-for=PUT /api/**")
			.run((context) -> assertThat(output)
				.containsOnlyOnce("under Guarantee.LEASE by default, although transactions are available: "
						+ Orders.class.getName() + ".cancel(), " + Orders.class.getName()
						+ ".place(), 'PUT /api/**' (idempotent.web.required-for). "));
	}

	@Test
	void tellsOfRulesThatMatchNoHandler(CapturedOutput output) {
		this.application.withUserConfiguration(Orders.class)
			.withPropertyValues("idempotent.web.required-for=POST /order, POST /ordres/**, PATCH /**")
			.run((context) -> assertThat(output)
				.containsOnlyOnce("no controller method is mapped to [POST /order, POST /ordres/**, PATCH /**]")
				.contains("POST /orders"));
	}

	@Test
	void isSilentAboutRulesThatMatchAHandler(CapturedOutput output) {
		this.application.withUserConfiguration(Orders.class)
			.withPropertyValues("idempotent.web.required-for=POST /**, POST /orders, POST /{*rest}, DELETE /orders/*")
			.run((context) -> assertThat(output).doesNotContain("no controller method is mapped"));
	}

	@Test
	void isSilentAboutRulesThatMatchAHandlerWithoutMethods(CapturedOutput output) {
		this.application.withBean("/webhook", HttpRequestHandler.class, () -> (request, response) -> {
		})
			.withPropertyValues("idempotent.web.required-for=POST /webhook")
			.run((context) -> assertThat(output).doesNotContain("no controller method is mapped"));
		this.application.withBean("/webhook", HttpRequestHandler.class, () -> (request, response) -> {
		})
			.withPropertyValues("idempotent.web.required-for=POST /webhooks")
			.run((context) -> assertThat(output).contains("no controller method is mapped to [POST /webhooks]")
				.contains("mapped are [/webhook]"));
	}

	@Test
	void isSilentAboutRulesIfAMappingDoesNotTellWhatItMaps(CapturedOutput output) {
		this.application.withBean(HandlerMapping.class, () -> (request) -> null)
			.withPropertyValues("idempotent.web.required-for=POST /webhook")
			.run((context) -> assertThat(output).doesNotContain("no controller method is mapped"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "lease", "transaction" })
	void isSilentOnceTheApplicationHasChosen(String guarantee, CapturedOutput output) {
		this.application.withUserConfiguration(Orders.class)
			.withPropertyValues(DATABASE)
			.withPropertyValues("idempotent.guarantee=" + guarantee)
			.run((context) -> assertThat(output).contains("Idempotency: 2 handlers under ")
				.doesNotContain("LEASE by default"));
	}

	@Test
	void isSilentIfEachAnnotationHasChosen(CapturedOutput output) {
		this.application.withUserConfiguration(Vouchers.class)
			.withPropertyValues(DATABASE)
			.run((context) -> assertThat(output).contains("Idempotency: 1 method under ")
				.doesNotContain("LEASE by default"));
	}

	@Test
	void isSilentWithoutADatabase(CapturedOutput output) {
		this.application.withUserConfiguration(Orders.class)
			.withPropertyValues("spring.autoconfigure.exclude=" + DataSourceAutoConfiguration.class.getName())
			.run((context) -> assertThat(output).contains("2 handlers under LEASE").doesNotContain("LEASE by default"));
	}

	@Test
	void logsEachOperationAtDebug(CapturedOutput output) {
		this.application.withUserConfiguration(Orders.class, Vouchers.class)
			.withPropertyValues("spring.datasource.url=jdbc:h2:mem:startup", "idempotent.jdbc.initialize-schema=always",
					"idempotent.store=redis")
			.withInitializer((context) -> level(Level.DEBUG))
			.run((context) -> level(null));
		assertThat(output.getOut().lines().filter((line) -> line.contains("DEBUG") && line.contains("StartupReport")))
			.hasSize(4)
			.anyMatch((line) -> line
				.endsWith("Orders.cancel(): LEASE, key from the header, lease PT30S, retention PT24H"))
			.anyMatch((line) -> line.endsWith("Vouchers.grant(java.lang.String) (welcome): TRANSACTION, key #user, "
					+ "lease PT30S, retention PT48H"));
	}

	private static void level(@Nullable Level level) {
		((Logger) LoggerFactory.getLogger(StartupReport.class)).setLevel(level);
	}

	/**
	 * A mapping can find any bean, so that nothing else tells that it is a handler.
	 */
	@ParameterizedTest
	@ValueSource(classes = { MappedByTheApplication.class, MappedController.class, MappedRecord.class })
	void saysHowABeanThatOnlyAMappingOfTheApplicationKnowsBecomesAHandler(Class<?> handler) {
		this.application.withBean(handler).withUserConfiguration(OwnMapping.class).run((context) -> {
			Throwable failure = context.getStartupFailure();
			while (failure != null && !(failure instanceof IdempotentConfigurationException)) {
				failure = failure.getCause();
			}
			assertThat(failure).isInstanceOfSatisfying(IdempotentConfigurationException.class, (mistake) -> {
				assertThat(mistake).hasMessageContaining(handler.getName())
					.hasMessageContaining("is not a web handler of Spring MVC");
				assertThat(mistake.getAction()).contains("whichever handler mapping finds it",
						"its class with @Controller or @RestController and the method with @RequestMapping");
			});
		});
	}

	@Test
	void startsIfABeanOfAMappingOfTheApplicationIsAHandler(CapturedOutput output) {
		this.application.withBean(Payments.class)
			.withUserConfiguration(OwnMapping.class)
			.run((context) -> assertThat(output)
				.containsOnlyOnce("Idempotency: 1 handler under LEASE (keys in Redis)\n"));
	}

	static class MappedByTheApplication {

		@Idempotent
		public ResponseEntity<String> pay() {
			return ResponseEntity.ok("paid");
		}

	}

	@Controller
	static class MappedController extends MappedByTheApplication {

		@Override
		@Idempotent
		public ResponseEntity<String> pay() {
			return super.pay();
		}

	}

	record MappedRecord() {

		@Idempotent
		public String pay() {
			return "paid";
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OwnMapping {

		@Bean
		HandlerMapping own(ListableBeanFactory beans) {
			return (request) -> new HandlerExecutionChain(
					new HandlerMethod("handler", beans, Payments.class.getDeclaredMethod("pay")));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ AopAutoConfiguration.class, DataRedisAutoConfiguration.class,
			DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
			DispatcherServletAutoConfiguration.class, JacksonAutoConfiguration.class,
			TransactionAutoConfiguration.class, WebMvcAutoConfiguration.class })
	@ImportHandlers
	@ImportMethods
	static class Application {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class OperatedApplication {

	}

	@RestController
	static class Orders {

		@Idempotent
		@PostMapping({ "/orders", "/purchases" })
		void place() {
		}

		@Idempotent
		@DeleteMapping("/orders/{id}")
		void cancel() {
		}

		@GetMapping("/orders")
		void list() {
		}

	}

	static class Vouchers {

		@Transactional
		@Idempotent(key = "#user", name = "welcome", guarantee = Guarantee.TRANSACTION, retention = "48h")
		public void grant(String user) {
		}

		@Idempotent(key = "#user", guarantee = Guarantee.LEASE, name = "vouchers.remind")
		public void remind(String user) {
		}

	}

	@RestController
	static class Payments {

		@Idempotent
		@PostMapping("/payments")
		void pay() {
		}

	}

}
