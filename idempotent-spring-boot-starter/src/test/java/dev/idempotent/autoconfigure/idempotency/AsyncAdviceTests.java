package dev.idempotent.autoconfigure.idempotency;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.concurrent.CompletableFuture;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.Idempotent;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.throwable;

/**
 * A handler that advice hands to another thread would run without its request, and so
 * without its key.
 */
class AsyncAdviceTests {

	private final WebApplicationContextRunner application = new WebApplicationContextRunner()
		.withPropertyValues("idempotent.namespace=shop", "spring.datasource.generate-unique-name=true");

	@ParameterizedTest
	@ValueSource(classes = { OnMethod.class, OnClass.class, Composed.class, OwnAnnotation.class })
	void stopsTheApplicationOnAnAnnotatedHandler(Class<?> handlers) {
		assertStops(this.application, handlers);
	}

	@ParameterizedTest
	@ValueSource(classes = { OnMethod.class, OnClass.class, Composed.class })
	void stopsTheApplicationOnALazyHandlerToo(Class<?> handlers) {
		assertStops(this.application.withInitializer(
				(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor())),
				handlers);
	}

	@ParameterizedTest
	@ValueSource(classes = { NotSwitchedOn.class, OnAnother.class })
	void doesNotStopItWhereItDoesNotApply(Class<?> handlers) {
		this.application.withUserConfiguration(handlers).run((context) -> assertThat(context).hasNotFailed());
	}

	private static void assertStops(WebApplicationContextRunner application, Class<?> handlers) {
		application.withUserConfiguration(handlers)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(IdempotentConfigurationException.class)
				.hasMessageContainingAll("The @Idempotent method " + handlers.getName() + ".place() ", "another thread")
				.asInstanceOf(throwable(IdempotentConfigurationException.class))
				.extracting(IdempotentConfigurationException::getAction)
				.asString()
				.contains("CompletableFuture", "a service"));
	}

	@EnableAsync
	@EnableAutoConfiguration
	@RestController
	static class OnMethod {

		@Async
		@Idempotent
		@PostMapping("/orders")
		public CompletableFuture<String> place() {
			return CompletableFuture.completedFuture("placed");
		}

	}

	@Async
	@EnableAsync
	@EnableAutoConfiguration
	@RestController
	static class OnClass {

		@Idempotent
		@PostMapping("/orders")
		public void place() {
		}

	}

	@EnableAsync
	@EnableAutoConfiguration
	@RestController
	static class Composed {

		@Elsewhere
		@Idempotent
		@PostMapping("/orders")
		public void place() {
		}

	}

	@Retention(RetentionPolicy.RUNTIME)
	@Async
	@interface Elsewhere {

	}

	@EnableAsync(annotation = Aside.class)
	@EnableAutoConfiguration
	@RestController
	static class OwnAnnotation {

		@Aside
		@Idempotent
		@PostMapping("/orders")
		public void place() {
		}

	}

	@Retention(RetentionPolicy.RUNTIME)
	@interface Aside {

	}

	@EnableAutoConfiguration
	@RestController
	static class NotSwitchedOn {

		@Async
		@Idempotent
		@PostMapping("/orders")
		public void place() {
		}

	}

	@EnableAsync
	@EnableAutoConfiguration
	@RestController
	static class OnAnother {

		@Idempotent
		@PostMapping("/orders")
		public void place() {
		}

		@Async
		@PostMapping("/notes")
		public void note() {
		}

	}

}
