package dev.idempotent.autoconfigure.startup;

import dev.idempotent.IdempotentConfigurationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.throwable;

/**
 * Annotated beans of a parent context, to which the advice of its child does not apply.
 */
class ParentContextTests {

	private final WebApplicationContextRunner application = new WebApplicationContextRunner()
		.withPropertyValues("idempotent.namespace=shop", "spring.datasource.generate-unique-name=true")
		.withUserConfiguration(Application.class);

	@ParameterizedTest
	@CsvSource({ "Method, @Idempotent, idempotent.enabled", "Event, @TransactionalOutbox, idempotent.outbox.enabled",
			"Listener, @RedisStreamListener, idempotent.stream.enabled" })
	void stopsTheApplicationBecauseOfAnAnnotation(String bean, String annotation, String property)
			throws ClassNotFoundException {
		Class<?> type = Class.forName(AnnotatedBeans.class.getName() + "$" + bean);
		try (var top = new AnnotationConfigApplicationContext(type);
				var middle = new AnnotationConfigApplicationContext()) {
			middle.setParent(top);
			middle.refresh();
			top.setDisplayName("services");
			this.application.withParent(middle)
				.run((context) -> assertThat(context).getFailure()
					.isInstanceOf(IdempotentConfigurationException.class)
					.hasMessageContainingAll("The " + annotation + " method " + type.getName() + ".run() ",
							"is in the parent context 'services'")
					.asInstanceOf(throwable(IdempotentConfigurationException.class))
					.extracting(IdempotentConfigurationException::getAction)
					.asString()
					.contains("@EnableAutoConfiguration", property + "=false"));
			this.application.withParent(middle)
				.withPropertyValues(property + "=false")
				.run((context) -> assertThat(context).hasNotFailed());
		}
	}

	@Test
	void ignoresHandlersThatNoServletServes() {
		try (var parent = new AnnotationConfigApplicationContext(AnnotatedBeans.Handler.class)) {
			this.application.withParent(parent).run((context) -> assertThat(context).hasNotFailed());
		}
	}

	@Test
	void ignoresAParentWithTheAutoConfiguration() {
		new ApplicationContextRunner()
			.withPropertyValues("idempotent.namespace=shop", "spring.datasource.generate-unique-name=true")
			.withUserConfiguration(Application.class, AnnotatedBeans.Method.class)
			.run((parent) -> this.application.withParent(parent.getSourceApplicationContext())
				.run((context) -> assertThat(context).hasNotFailed()));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

	}

}
