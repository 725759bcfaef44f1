package dev.idempotent.autoconfigure.outbox;

import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.OutboxTopics;
import dev.idempotent.outbox.jdbc.OutboxTableCheck;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.core.env.Environment;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.spel.SpelEvaluationException;
import org.springframework.expression.spel.SpelMessage;
import org.springframework.expression.spel.support.DataBindingMethodResolver;
import org.springframework.expression.spel.support.DataBindingPropertyAccessor;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.modulith.events.EventExternalizationConfiguration;
import org.springframework.modulith.events.support.BrokerRouting;
import org.springframework.util.ClassUtils;

/**
 * Auto-configuration that makes Spring Modulith externalize events with the outbox. Also
 * applies without an outbox, to report a mode that would have no effect.
 */
@AutoConfiguration(after = OutboxAutoConfiguration.class,
		afterName = "org.springframework.modulith.events.config.EventExternalizationAutoConfiguration")
@ConditionalOnBooleanProperty(name = "spring.modulith.events.externalization.enabled", matchIfMissing = true)
final class OutboxModulithAutoConfiguration {

	private static final String MODE = "spring.modulith.events.externalization.mode";

	private static final String OUTBOX = "outbox";

	private static final String ON = MODE + " is outbox, ";

	private static final String PACKAGE = "org.springframework.modulith.events.";

	private static final List<String> RECORDERS = List.of("org.springframework.context.ApplicationListener",
			PACKAGE + "core.ConditionalEventListener");

	@Bean
	@Lazy(false)
	@ConditionalOnProperty("idempotent.outbox.modulith.publisher")
	@ConditionalOnBooleanProperty(name = "idempotent.outbox.enabled", matchIfMissing = true)
	static SmartInitializingSingleton modulithModeCheck(Environment environment) {
		return () -> {
			if (!OUTBOX.equalsIgnoreCase(environment.getProperty(MODE))) {
				throw new IdempotentConfigurationException(
						"idempotent.outbox.modulith.publisher has no effect: " + MODE + " is not outbox.",
						"Set " + MODE + "=outbox, or omit idempotent.outbox.modulith.publisher.");
			}
		};
	}

	@Bean
	@Lazy(false)
	@ConditionalOnProperty(name = MODE, havingValue = OUTBOX)
	static SmartInitializingSingleton modulithOutboxCheck(ConfigurableListableBeanFactory beanFactory) {
		return () -> requireOneRecorder(beanFactory);
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnProperty(name = MODE, havingValue = OUTBOX)
	@ConditionalOnClass({ EventExternalizationConfiguration.class, BrokerRouting.class })
	@ConditionalOnBean(OutboxActivation.class)
	static class RecorderConfiguration {

		@Bean
		@Lazy(false)
		ExternalizedEventRecorder externalizedEventRecorder(EventExternalizationConfiguration configuration,
				ObjectProvider<Outbox> outbox, OutboxActivation activation, OutboxTopics topics,
				OutboxTableCheck tables, OutboxProperties properties, BeanFactory beanFactory) {
			if (configuration.serializeExternalization()) {
				throw new IdempotentConfigurationException(
						"Spring Modulith's serialized externalization has no effect in an outbox.",
						"Omit spring.modulith.events.externalization.serialize-externalization (or "
								+ "serializeExternalization(true)) and give the events keys: events of the same target "
								+ "and key are delivered in order.");
			}
			boolean unused = tables.requireTables("spring.modulith.events.externalization.mode is outbox");
			activation.activate("Spring Modulith externalizes events to it");
			return new ExternalizedEventRecorder(configuration, outbox.getObject(),
					topics.publishers()
						.stream()
						.map(OutboxPublisher::prefix)
						.collect(Collectors.toCollection(TreeSet::new)),
					properties.modulith().publisher(), routing(beanFactory));
		}

		/**
		 * Evaluates the expressions of targets and keys. They can use the event and
		 * beans, and neither types nor constructors: a key that is computed from data may
		 * look like an expression.
		 */
		private static EvaluationContext routing(BeanFactory beanFactory) {
			StandardEvaluationContext context = new StandardEvaluationContext();
			context.setBeanResolver(new BeanFactoryResolver(beanFactory));
			context.setPropertyAccessors(List.of(DataBindingPropertyAccessor.forReadOnlyAccess()));
			context.setMethodResolvers(List.of(DataBindingMethodResolver.forInstanceMethodInvocation()));
			context.setConstructorResolvers(List.of());
			context.setTypeLocator((type) -> {
				throw new SpelEvaluationException(SpelMessage.TYPE_NOT_FOUND, type);
			});
			return context;
		}

	}

	/**
	 * Requires one recorder of the events that Spring Modulith externalizes: with two,
	 * each event would be sent twice, and without one, none.
	 */
	private static void requireOneRecorder(ConfigurableListableBeanFactory beanFactory) {
		if (!ClassUtils.isPresent(RECORDERS.get(1), beanFactory.getBeanClassLoader())) {
			throw new IdempotentConfigurationException(ON + "and spring-modulith-events-core is not on the class path.",
					"Add org.springframework.modulith:spring-modulith-events-core, or omit the property.");
		}
		List<String> others = recordersOfModulith(beanFactory);
		boolean own = beanFactory.containsBean("externalizedEventRecorder");
		if (own && !others.isEmpty()) {
			throw new IdempotentConfigurationException(
					ON + "and besides this library's outbox, Spring Modulith has another recorder of the same events: "
							+ String.join(", ", others) + ".",
					"Remove the dependency that provides it (spring-modulith-starter-namastack or -jobrunr, or the "
							+ "module of a broker), or leave externalization to it with idempotent.outbox.enabled=false.");
		}
		if (!own && others.isEmpty()) {
			throw new IdempotentConfigurationException(ON + "and there is no outbox.",
					"Set idempotent.outbox.enabled=true and add spring-boot-starter-jdbc or -data-jpa with one database, "
							+ "or mark one of several DataSource beans as @Primary.");
		}
	}

	private static List<String> recordersOfModulith(ConfigurableListableBeanFactory beanFactory) {
		return Stream.of(beanFactory.getBeanDefinitionNames())
			.filter((bean) -> isRecorderOfModulith(beanFactory.getType(bean, false)))
			.toList();
	}

	private static boolean isRecorderOfModulith(@Nullable Class<?> type) {
		return type != null && isOfModulith(type)
				&& ClassUtils.getAllInterfacesForClassAsSet(type)
					.stream()
					.anyMatch((each) -> RECORDERS.contains(each.getName()));
	}

	private static boolean isOfModulith(@Nullable Class<?> type) {
		return type != null && (type.getName().startsWith(PACKAGE) || isOfModulith(type.getSuperclass()));
	}

}
