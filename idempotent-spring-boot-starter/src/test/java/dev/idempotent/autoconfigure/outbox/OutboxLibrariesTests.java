package dev.idempotent.autoconfigure.outbox;

import dev.idempotent.autoconfigure.operations.OutboxOperationsAutoConfiguration;
import dev.idempotent.testing.ClassPathWithout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the outbox where a library that could watch it is not on the class path.
 */
class OutboxLibrariesTests {

	@ParameterizedTest
	@CsvSource({ "org.springframework.boot.actuate, outboxEndpoint",
			"org.springframework.boot.health, outboxHealthIndicator", "io.micrometer.core, outboxMetrics",
			"io.micrometer.tracing, outboxTraceHeaders" })
	void keepsAnOutboxWithoutWhatWouldWatchIt(String missing, String bean) throws ClassNotFoundException {
		ClassPathWithout classPath = new ClassPathWithout(missing);
		new ApplicationContextRunner().withClassLoader(classPath)
			.withPropertyValues("management.endpoints.web.exposure.include=outbox")
			.withUserConfiguration(classPath.loadClass(Application.class.getName()))
			.run((context) -> assertThat(context).hasNotFailed().hasBean("outboxDeadEvents").doesNotHaveBean(bean));
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ DataSourceAutoConfiguration.class, OutboxAutoConfiguration.class,
			OutboxOperationsAutoConfiguration.class })
	static class Application {

	}

}
