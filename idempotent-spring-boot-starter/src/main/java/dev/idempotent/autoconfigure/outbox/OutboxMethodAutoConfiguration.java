package dev.idempotent.autoconfigure.outbox;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.aop.AdvisorBeanPostProcessor;
import dev.idempotent.aop.AdvisorBeanPostProcessor.Placement;
import dev.idempotent.aop.AnnotatedMethod;
import dev.idempotent.aop.AnnotatedMethodsCheck;
import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxTopics;
import dev.idempotent.outbox.TransactionalOutbox;
import dev.idempotent.outbox.jdbc.OutboxTableCheck;
import dev.idempotent.outbox.method.OutboxMethodAdvisor;
import dev.idempotent.outbox.method.OutboxMethodAdvisor.Responses;
import dev.idempotent.transaction.TransactionRequirements;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.interceptor.TransactionInterceptor;
import org.springframework.util.ClassUtils;

/**
 * Auto-configuration for {@code @TransactionalOutbox} methods. Also applies without a
 * database, to report annotated methods that would have no effect.
 */
@AutoConfiguration(after = OutboxAutoConfiguration.class)
@ConditionalOnBooleanProperty(name = "idempotent.outbox.enabled", matchIfMissing = true)
@ConditionalOnClass({ TransactionInterceptor.class, ConnectionHolder.class })
final class OutboxMethodAutoConfiguration {

	private static final boolean WITH_MVC = Stream
		.of("org.springframework.web.servlet.HandlerMapping", "jakarta.servlet.http.HttpServletResponse")
		.allMatch((name) -> ClassUtils.isPresent(name, OutboxMethodAutoConfiguration.class.getClassLoader()));

	private static final Logger logger = LoggerFactory.getLogger(OutboxMethodAutoConfiguration.class);

	/**
	 * Runs after the post-processors of {@code @Idempotent}, so that its advice is within
	 * theirs: a replayed call appends no event.
	 */
	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static AdvisorBeanPostProcessor outboxMethodAdvisor(ObjectProvider<Outbox> outbox,
			ObjectProvider<OutboxTopics> topics, Environment environment) {
		AdvisorBeanPostProcessor processor = new AdvisorBeanPostProcessor(new OutboxMethodAdvisor(outbox::getObject,
				() -> require(topics), environment::resolveRequiredPlaceholders, responses()), Placement.INNERMOST);
		processor.setOrder(processor.getOrder() + 1);
		return processor;
	}

	private static Responses responses() {
		return WITH_MVC ? new WebResponses() : Responses.NONE;
	}

	@Bean
	@Lazy(false)
	SmartInitializingSingleton outboxMethodsCheck(ConfigurableListableBeanFactory beanFactory,
			ObjectProvider<OutboxActivation> activation, ObjectProvider<OutboxTableCheck> tables,
			ObjectProvider<OutboxProperties> properties, Environment environment) {
		return () -> {
			List<AnnotatedMethod> methods = new AnnotatedMethodsCheck(beanFactory, TransactionalOutbox.class).check();
			int found = methods.size();
			if (found > 0) {
				properties.ifAvailable((outbox) -> warnOfUnusedTopics(outbox, methods, environment));
				tables.ifAvailable((check) -> {
					boolean unused = check.requireTables("There is a @TransactionalOutbox method");
				});
				TransactionRequirements.requireOtherThanJta(beanFactory, "There is a @TransactionalOutbox method");
				String cause = (found == 1) ? "1 @TransactionalOutbox method appends events"
						: found + " @TransactionalOutbox methods append events";
				activation.ifAvailable((outbox) -> outbox.activate(cause));
			}
		};
	}

	/**
	 * A misspelled topic keeps its default. Code that appends by itself may use any
	 * topic, so this is only a warning.
	 */
	private static void warnOfUnusedTopics(OutboxProperties properties, List<AnnotatedMethod> methods,
			Environment environment) {
		Set<String> used = methods.stream()
			.map((method) -> AnnotatedElementUtils.findMergedAnnotation(method.method(), TransactionalOutbox.class))
			.flatMap(Stream::ofNullable)
			.map((annotation) -> annotation.topic().isEmpty() ? properties.defaultTopic(environment)
					: environment.resolvePlaceholders(annotation.topic()))
			.flatMap(Stream::ofNullable)
			.collect(Collectors.toCollection(TreeSet::new));
		Stream.ofNullable(properties.defaultTopic(environment)).forEach(used::add);
		String unused = properties.topics()
			.keySet()
			.stream()
			.filter((topic) -> !topic.startsWith(OutboxTopics.HANDLERS + ":") && !used.contains(topic))
			.map((topic) -> "idempotent.outbox.topics.[" + topic + "]")
			.sorted()
			.collect(Collectors.joining(", "));
		if (!unused.isEmpty()) {
			logger
				.warn("No @TransactionalOutbox method appends to the topic of {}, and it is not the default topic, so the "
						+ "property has no effect unless code appends to it with the Outbox. Correct its name; the topics are {}",
						unused, used);
		}
	}

	private static OutboxTopics require(ObjectProvider<OutboxTopics> topics) {
		OutboxTopics known = topics.getIfAvailable();
		if (known == null) {
			throw new IdempotentConfigurationException(
					"There is a @TransactionalOutbox method, and no one database to append events in.",
					"Add spring-boot-starter-jdbc or -data-jpa and point spring.datasource.* at a database, mark one of "
							+ "several DataSource beans as @Primary, or set idempotent.outbox.enabled=false.");
		}
		return known;
	}

}
