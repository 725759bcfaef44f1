package dev.idempotent.autoconfigure.idempotency;

import dev.idempotent.advice.AdvicePlacement;
import dev.idempotent.advice.AdvisorBeanPostProcessor;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.claim.IdempotencyGuard;
import dev.idempotent.idempotency.claim.IdempotencyTransactionSource;
import dev.idempotent.idempotency.method.IdempotencyTemplate;
import dev.idempotent.idempotency.method.IdempotentMethodAdvisor;
import dev.idempotent.idempotency.method.IdempotentMethods;
import dev.idempotent.idempotency.method.IdempotentMethodsCheck;
import dev.idempotent.idempotency.method.MethodSettings;
import dev.idempotent.idempotency.operation.OperationTerms;
import dev.idempotent.idempotency.web.IdempotentOperations;
import jakarta.servlet.ServletRequest;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnNotWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionInterceptor;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import tools.jackson.databind.json.JsonMapper;

/**
 * Gives {@code @Idempotent} its effect on the methods of beans that are no web handlers,
 * and brings the template for code.
 */
@AutoConfiguration(after = IdempotencyAutoConfiguration.class,
		afterName = "org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration")
@ConditionalOnBooleanProperty(name = "idempotent.enabled", matchIfMissing = true)
@ConditionalOnClass({ JsonMapper.class, TransactionInterceptor.class })
@EnableConfigurationProperties(IdempotencyMethodProperties.class)
public final class IdempotencyMethodAutoConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(IdempotencyMethodAutoConfiguration.class);

	/**
	 * Made before anything that it is made of.
	 */
	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static IdempotentMethods idempotentMethods(ObjectProvider<OperationTerms> defaults,
			ObjectProvider<MethodSettings> environment, ObjectProvider<WebHandlers> handlers) {
		return new IdempotentMethods(defaults::getObject, environment::getObject,
				(type, method) -> handlers.stream().anyMatch((web) -> web.include(type, method)));
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static AdvisorBeanPostProcessor idempotentLeasePlacer(IdempotentMethods idempotentMethods) {
		return new AdvisorBeanPostProcessor(new IdempotentMethodAdvisor(idempotentMethods, Guarantee.LEASE),
				AdvicePlacement.AROUND_TRANSACTION);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static AdvisorBeanPostProcessor idempotentTransactionPlacer(IdempotentMethods idempotentMethods) {
		return new AdvisorBeanPostProcessor(new IdempotentMethodAdvisor(idempotentMethods, Guarantee.TRANSACTION),
				AdvicePlacement.INNERMOST);
	}

	@Bean
	MethodSettings idempotentMethodEnvironment(IdempotencyGuard guard, IdempotencyNamespace namespace,
			OperationTerms defaults, IdempotencyMethodProperties properties, ObjectProvider<JsonMapper> mappers,
			ObjectProvider<IdempotencyTransactionSource> transactionSource,
			ObjectProvider<TransactionAttributeSource> attributes) {
		return new MethodSettings(guard, namespace.name(), defaults, properties.waitTimeout(),
				mappers.getIfUnique(JsonMapper::shared), transactionSource.getIfAvailable(), attributes.getIfUnique());
	}

	@Bean
	@ConditionalOnMissingBean
	IdempotencyTemplate idempotencyTemplate(MethodSettings environment) {
		return new IdempotencyTemplate(environment);
	}

	@Bean
	SmartInitializingSingleton idempotentMethodsCheck(IdempotentMethods methods,
			ConfigurableListableBeanFactory beanFactory) {
		return () -> {
			int found = new IdempotentMethodsCheck(methods, beanFactory).check();
			if (found > 0) {
				logger.info("Idempotency: {} once per key", (found == 1) ? "1 method runs" : found + " methods run");
			}
		};
	}

	/**
	 * The same application may be started without its web server, such as for a job:
	 * handlers then get no requests.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnNotWebApplication
	@ConditionalOnClass({ RequestMappingHandlerMapping.class, ServletRequest.class })
	static class WithoutWebServer {

		@Bean
		static WebHandlers idempotentWebHandlers() {
			return IdempotentOperations::isHandler;
		}

	}

}
