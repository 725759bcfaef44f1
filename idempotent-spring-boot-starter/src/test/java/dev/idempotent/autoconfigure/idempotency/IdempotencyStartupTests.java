package dev.idempotent.autoconfigure.idempotency;

import dev.idempotent.idempotency.Idempotent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link IdempotencyStartup}.
 */
@ExtendWith(OutputCaptureExtension.class)
class IdempotencyStartupTests {

	private final WebApplicationContextRunner application = new WebApplicationContextRunner()
		.withPropertyValues("spring.application.name=shop")
		.withUserConfiguration(Application.class);

	@Test
	void logsTheStoreAndTheNumberOfHandlers(CapturedOutput output) {
		this.application.withUserConfiguration(Orders.class, Payments.class)
			.run((context) -> assertThat(output).containsOnlyOnce("Idempotency: Redis keeps the keys of 3 handlers"));
	}

	@Test
	void countsOneHandlerInTheSingular(CapturedOutput output) {
		this.application.withUserConfiguration(Payments.class)
			.run((context) -> assertThat(output).containsOnlyOnce("Idempotency: Redis keeps the keys of 1 handler\n"));
	}

	@Test
	void startsWithoutAnyHandler(CapturedOutput output) {
		this.application
			.run((context) -> assertThat(output).containsOnlyOnce("Idempotency: Redis keeps the keys of 0 handlers"));
	}

	@Test
	void readsTheApplicationsMappingAndNotThatOfTheActuator(CapturedOutput output) {
		this.application.withUserConfiguration(Payments.class)
			.withPropertyValues("management.endpoints.web.exposure.include=*")
			.run((context) -> {
				assertThat(context).getBeanNames(RequestMappingHandlerMapping.class).hasSizeGreaterThan(1);
				assertThat(output).containsOnlyOnce("Idempotency: Redis keeps the keys of 1 handler\n");
			});
	}

	@Test
	void readsTheAnnotationsOfALazyApplicationToo(CapturedOutput output) {
		this.application.withBean("orders", Orders.class)
			.withInitializer(
					(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
			.run((context) -> {
				assertThat(context.getBeanFactory().containsSingleton("orders")).isFalse();
				assertThat(output).containsOnlyOnce("Idempotency: Redis keeps the keys of 2 handlers");
			});
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

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

	@RestController
	static class Payments {

		@Idempotent
		@PostMapping("/payments")
		void pay() {
		}

	}

}
