package dev.idempotent.autoconfigure.saga;

import dev.idempotent.autoconfigure.idempotency.ImportMethods;
import dev.idempotent.autoconfigure.saga.ImportSagas;
import dev.idempotent.autoconfigure.startup.ImportStartupCheck;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.testing.ClassPathWithout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.CommandLineRunner;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for sagas where a library that they can do without is not on the class path.
 */
class SagaLibrariesTests {

	@ParameterizedTest
	@ValueSource(strings = { "org.springframework.security", "org.springframework.web", "jakarta.servlet",
			"io.micrometer", "org.springframework.data.redis", "org.aspectj", "reactor" })
	void runWithoutALibraryThatTheyDoNotNeed(String missing) throws Exception {
		ClassPathWithout classPath = new ClassPathWithout(missing);
		new ApplicationContextRunner().withClassLoader(classPath)
			.withPropertyValues("idempotent.namespace=shop", "spring.datasource.generate-unique-name=true")
			.withUserConfiguration(classPath.loadClass(Application.class.getName()))
			.run((context) -> {
				assertThat(context).hasNotFailed().hasBean("sagaMethodsCheck");
				// Its class is loaded again, too.
				context.getBean("greeting", CommandLineRunner.class).run();
			});
	}

	static class Greeter {

		private final SagaSteps saga;

		Greeter(SagaSteps saga) {
			this.saga = saga;
		}

		@Saga(key = "#name", name = "Greeter.greet")
		public String greet(String name) {
			return this.saga.step("greet", String.class).run(() -> "Hello, " + name);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
			TransactionAutoConfiguration.class })
	@ImportMethods
	@ImportSagas
	@ImportStartupCheck
	@Import(Greeter.class)
	static class Application {

		@Bean
		CommandLineRunner greeting(Greeter greeter) {
			return (arguments) -> assertThat(greeter.greet("Ada")).isEqualTo("Hello, Ada");
		}

	}

}
