package dev.idempotent.autoconfigure.idempotency;

import dev.idempotent.aop.AdvisorBeanPostProcessor;
import dev.idempotent.aop.AdvisorBeanPostProcessor.Placement;
import dev.idempotent.aop.AnnotatedMethodsCheck;
import dev.idempotent.autoconfigure.idempotency.IdempotencyAutoConfiguration.KeySettings;
import dev.idempotent.autoconfigure.idempotency.IdempotencyAutoConfiguration.WebHandlers;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.autoconfigure.CanonicalValuesConfiguration;
import dev.idempotent.idempotency.canonical.CanonicalValues;
import dev.idempotent.idempotency.engine.IdempotencyEngine;
import dev.idempotent.idempotency.engine.IdempotencyTransactions.IdempotencyTransactionSource;
import dev.idempotent.idempotency.kafka.IdempotencyBackOff;
import dev.idempotent.idempotency.method.IdempotencyTemplate;
import dev.idempotent.idempotency.method.IdempotentMethodAdvisor;
import dev.idempotent.idempotency.method.MethodSettings;
import dev.idempotent.idempotency.operation.OperationNames;
import dev.idempotent.idempotency.operation.OperationSettings;
import dev.idempotent.idempotency.operation.OperationSettings.OperationSummary;
import dev.idempotent.idempotency.tool.ToolCalls;
import dev.idempotent.idempotency.web.IdempotencyWebComponents;
import jakarta.servlet.ServletRequest;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnNotWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.kafka.listener.AfterRollbackProcessor;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.DefaultAfterRollbackProcessor;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.transaction.KafkaAwareTransactionManager;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionInterceptor;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import tools.jackson.databind.json.JsonMapper;

/**
 * Auto-configuration for {@code @Idempotent} methods of beans other than web handlers,
 * and for the {@link IdempotencyTemplate}.
 */
@AutoConfiguration(after = IdempotencyAutoConfiguration.class,
		afterName = { "org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration",
				"org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration" })
@ConditionalOnBooleanProperty(name = "idempotent.enabled", matchIfMissing = true)
@ConditionalOnClass({ JsonMapper.class, TransactionInterceptor.class })
@EnableConfigurationProperties(IdempotencyProperties.Method.class)
@Import(CanonicalValuesConfiguration.class)
final class IdempotencyMethodAutoConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static OperationNames idempotentOperationNames(ConfigurableListableBeanFactory beanFactory,
			Environment environment) {
		return new OperationNames(sharedNames(beanFactory), environment.getProperty("idempotent.namespace", ""));
	}

	/**
	 * Contexts with a common parent know no other place that all of them have.
	 */
	private static synchronized OperationNames.Shared sharedNames(ConfigurableBeanFactory context) {
		ConfigurableBeanFactory root = context;
		while (root.getParentBeanFactory() instanceof ConfigurableBeanFactory parent) {
			root = parent;
		}
		String name = OperationNames.Shared.class.getName();
		if (!root.containsSingleton(name)) {
			root.registerSingleton(name, new OperationNames.Shared());
		}
		return root.getBean(name, OperationNames.Shared.class);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static AdvisorBeanPostProcessor idempotentLeaseAdvisor(ObjectProvider<OperationSettings> defaults,
			ObjectProvider<MethodSettings> settings, ObjectProvider<WebHandlers> handlers, OperationNames names) {
		return new AdvisorBeanPostProcessor(advisor(Guarantee.LEASE, defaults, settings, handlers, names),
				Placement.AROUND_TRANSACTION);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static AdvisorBeanPostProcessor idempotentTransactionAdvisor(ObjectProvider<OperationSettings> defaults,
			ObjectProvider<MethodSettings> settings, ObjectProvider<WebHandlers> handlers, OperationNames names) {
		return new AdvisorBeanPostProcessor(advisor(Guarantee.TRANSACTION, defaults, settings, handlers, names),
				Placement.INNERMOST);
	}

	@Bean
	@Lazy
	MethodSettings idempotentMethodSettings(IdempotencyEngine engine, KeySettings keys, OperationSettings defaults,
			IdempotencyProperties.Method properties, ObjectProvider<JsonMapper> mappers, CanonicalValues values,
			ObjectProvider<IdempotencyTransactionSource> transactionSource,
			ObjectProvider<TransactionAttributeSource> attributes, ObjectProvider<ToolCalls> tools) {
		return new MethodSettings(engine, keys.namespace(), defaults, properties.waitTimeout(),
				mappers.getIfUnique(JsonMapper::shared), values, transactionSource.getIfAvailable(),
				attributes.getIfUnique(), tools.getIfAvailable());
	}

	@Bean
	@Lazy
	@ConditionalOnMissingBean
	IdempotencyTemplate idempotencyTemplate(MethodSettings settings) {
		return new IdempotencyTemplate(settings);
	}

	@Bean
	SmartInitializingSingleton idempotentMethodsCheck(ConfigurableListableBeanFactory beanFactory,
			OperationSettings defaults, StartupReport report, OperationNames names) {
		return () -> {
			AnnotatedMethodsCheck check = new AnnotatedMethodsCheck(beanFactory, Idempotent.class);
			report.addMethods(check.check()
				.stream()
				.map((method) -> OperationSummary.of(method.type(), method.method(),
						IdempotentMethodAdvisor.annotationOf(method), defaults))
				.toList());
			check.findAdvised()
				.forEach((found) -> names.add(IdempotentMethodAdvisor.annotationOf(found.method()).name(), found.bean(),
						found.instance(), found.method().describe()));
		};
	}

	/**
	 * Gets providers only, and the names, which need no other bean: a post-processor is
	 * created before the beans it depends on.
	 */
	private static IdempotentMethodAdvisor advisor(Guarantee guarantee, ObjectProvider<OperationSettings> defaults,
			ObjectProvider<MethodSettings> settings, ObjectProvider<WebHandlers> handlers, OperationNames names) {
		return new IdempotentMethodAdvisor(guarantee, defaults::getObject, settings::getObject,
				(type, method) -> handlers.stream().anyMatch((web) -> web.include(type, method)), names);
	}

	/**
	 * An application may be started without its web server, such as for a job. Its
	 * handlers then receive no requests.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnNotWebApplication
	@ConditionalOnClass({ RequestMappingHandlerMapping.class, ServletRequest.class })
	static class WithoutWebServer {

		@Bean
		static WebHandlers idempotentWebHandlers() {
			return IdempotencyWebComponents::isHandler;
		}

	}

	/**
	 * Lets Kafka listener containers wait for keys that are claimed elsewhere; by default
	 * they skip a record after ten deliveries. Error handlers of the application are left
	 * unchanged.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ KafkaAutoConfiguration.class, DefaultErrorHandler.class })
	static class KafkaConfiguration {

		/**
		 * A container with Kafka transactions has no such handler by default.
		 */
		@Bean
		@ConditionalOnMissingBean({ CommonErrorHandler.class, KafkaAwareTransactionManager.class })
		DefaultErrorHandler idempotencyKafkaErrorHandler() {
			return IdempotencyBackOff.addTo(new DefaultErrorHandler());
		}

		@Bean
		@ConditionalOnBean(KafkaAwareTransactionManager.class)
		@ConditionalOnMissingBean(AfterRollbackProcessor.class)
		DefaultAfterRollbackProcessor<Object, Object> idempotencyKafkaRollbackProcessor() {
			return IdempotencyBackOff.addTo(new DefaultAfterRollbackProcessor<>());
		}

	}

}
