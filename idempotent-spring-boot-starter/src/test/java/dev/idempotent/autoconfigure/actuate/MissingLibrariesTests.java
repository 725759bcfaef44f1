package dev.idempotent.autoconfigure.actuate;

import java.time.InstantSource;

import dev.idempotent.autoconfigure.idempotency.IdempotencyAutoConfiguration;
import dev.idempotent.test.InMemoryIdempotencyStore;
import dev.idempotent.testing.ClassPathWithout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Keys are kept where a library of operators, of a store or of the web is not on the
 * class path.
 */
class MissingLibrariesTests {

	@ParameterizedTest
	@CsvSource({ "org.springframework.boot.actuate, idempotencyEndpoint",
			"org.springframework.boot.health, idempotencyHealthIndicator",
			"org.springframework.data.redis, redisIdempotencyStore", "jakarta.servlet, idempotencyFilter" })
	void leaveOutOnlyTheBeanThatNeedsThem(String missing, String bean) throws ClassNotFoundException {
		ClassPathWithout classPath = new ClassPathWithout(missing);
		new ApplicationContextRunner().withClassLoader(classPath)
			.withPropertyValues("management.endpoints.web.exposure.include=idempotency", "idempotent.namespace=test")
			.withUserConfiguration(classPath.loadClass(Application.class.getName()))
			.run((context) -> assertThat(context).hasNotFailed().hasBean("idempotencyEngine").doesNotHaveBean(bean));
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ IdempotencyAutoConfiguration.class, IdempotencyOperationsAutoConfiguration.class })
	static class Application {

		@Bean
		InMemoryIdempotencyStore store() {
			return new InMemoryIdempotencyStore(InstantSource.system());
		}

	}

}
