package dev.idempotent.autoconfigure.outbox;

import java.util.TreeSet;
import java.util.stream.Collectors;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.OutboxTopics;
import dev.idempotent.outbox.jdbc.OutboxTableCheck;
import dev.idempotent.outbox.modulith.ExternalizedEventRecorder;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;
import org.springframework.modulith.events.EventExternalizationConfiguration;
import org.springframework.modulith.events.support.BrokerRouting;

/**
 * Auto-configuration that makes Spring Modulith externalize events with the outbox. Also
 * applies without an outbox, to report a mode that would have no effect.
 */
@AutoConfiguration(after = OutboxAutoConfiguration.class,
		afterName = "org.springframework.modulith.events.config.EventExternalizationAutoConfiguration")
@ConditionalOnBooleanProperty(name = "spring.modulith.events.externalization.enabled", matchIfMissing = true)
public final class OutboxModulithAutoConfiguration {

	private static final String MODE = "spring.modulith.events.externalization.mode";

	private static final String OUTBOX = "outbox";

	@Bean
	@Lazy(false)
	@ConditionalOnProperty("idempotent.outbox.modulith.publisher")
	@ConditionalOnBooleanProperty(name = "idempotent.outbox.enabled", matchIfMissing = true)
	static SmartInitializingSingleton modulithModeCheck(Environment environment) {
		return () -> {
			if (!OUTBOX.equalsIgnoreCase(environment.getProperty(MODE))) {
				throw new IdempotentConfigurationException(
						"idempotent.outbox.modulith.publisher has no effect: " + MODE + " is not outbox.",
						"Set " + MODE + "=outbox, or omit idempotent.outbox.modulith.publisher.", null);
			}
		};
	}

	@Bean
	@Lazy(false)
	@ConditionalOnProperty(name = MODE, havingValue = OUTBOX)
	static SmartInitializingSingleton modulithOutboxCheck(ConfigurableListableBeanFactory beanFactory) {
		return new ModulithRecordersCheck(beanFactory);
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnProperty(name = MODE, havingValue = OUTBOX)
	@ConditionalOnClass({ EventExternalizationConfiguration.class, BrokerRouting.class })
	@ConditionalOnBean(OutboxActivation.class)
	@EnableConfigurationProperties(OutboxModulithProperties.class)
	static class RecorderConfiguration {

		@Bean
		@Lazy(false)
		ExternalizedEventRecorder externalizedEventRecorder(EventExternalizationConfiguration configuration,
				ObjectProvider<Outbox> outbox, OutboxActivation activation, OutboxTopics topics,
				OutboxTableCheck tables, OutboxModulithProperties properties, BeanFactory beanFactory) {
			if (configuration.serializeExternalization()) {
				throw new IdempotentConfigurationException(
						"Spring Modulith's serialized externalization has no effect in an outbox.",
						"Omit spring.modulith.events.externalization.serialize-externalization (or "
								+ "serializeExternalization(true)) and give the events keys: events of the same target "
								+ "and key are delivered in order.",
						null);
			}
			tables.requireTables("spring.modulith.events.externalization.mode is outbox");
			activation.activate("Spring Modulith externalizes events to it");
			return new ExternalizedEventRecorder(configuration, outbox.getObject(),
					topics.publishers()
						.stream()
						.map(OutboxPublisher::prefix)
						.collect(Collectors.toCollection(TreeSet::new)),
					properties.publisher(), RoutingExpressions.context(beanFactory));
		}

	}

}
