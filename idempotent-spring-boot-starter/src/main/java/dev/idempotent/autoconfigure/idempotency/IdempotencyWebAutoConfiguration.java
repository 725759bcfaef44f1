package dev.idempotent.autoconfigure.idempotency;

import java.util.function.BooleanSupplier;

import dev.idempotent.aop.AdvisorBeanPostProcessor;
import dev.idempotent.autoconfigure.idempotency.IdempotencyAutoConfiguration.KeySettings;
import dev.idempotent.autoconfigure.idempotency.IdempotencyAutoConfiguration.WebHandlers;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.engine.IdempotencyEngine;
import dev.idempotent.idempotency.engine.IdempotencyTransactions.IdempotencyTransactionSource;
import dev.idempotent.idempotency.operation.OperationSettings;
import dev.idempotent.idempotency.web.IdempotencyFilter;
import dev.idempotent.idempotency.web.IdempotencyOpenApiCustomizer;
import dev.idempotent.idempotency.web.IdempotencyScopeResolver;
import dev.idempotent.idempotency.web.IdempotencyWebComponents;
import dev.idempotent.idempotency.web.IdempotencyWebSettings;
import dev.idempotent.idempotency.web.IdempotentHandlerAdapter;
import dev.idempotent.idempotency.web.IdempotentHandlerMapping;
import dev.idempotent.idempotency.web.IdempotentOperations;
import dev.idempotent.idempotency.web.PrincipalScopeResolver;
import dev.idempotent.idempotency.web.ProblemRenderer;
import dev.idempotent.idempotency.web.ResponseRedactor;
import dev.idempotent.token.OneTimeTokens;
import io.swagger.v3.oas.models.OpenAPI;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springdoc.core.customizers.GlobalOpenApiCustomizer;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.web.servlet.FilterRegistration;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.security.core.Authentication;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import tools.jackson.databind.json.JsonMapper;

/**
 * Auto-configuration for {@code @Idempotent} web handlers in a servlet application.
 */
@AutoConfiguration(after = { WebMvcAutoConfiguration.class, IdempotencyAutoConfiguration.class })
@ConditionalOnBooleanProperty(name = "idempotent.enabled", matchIfMissing = true)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass({ RequestMappingHandlerMapping.class, JsonMapper.class, FilterRegistrationBean.class })
@ConditionalOnBean(name = IdempotencyStartup.HANDLER_MAPPING)
@EnableConfigurationProperties(IdempotencyProperties.Web.class)
final class IdempotencyWebAutoConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(IdempotencyWebAutoConfiguration.class);

	private static final String ALL_SERVLETS = "*";

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static AdvisorBeanPostProcessor idempotentHandlerInvocationAdvisor(ObjectProvider<OperationSettings> defaults,
			ObjectProvider<IdempotencyProperties.Web> web) {
		return IdempotencyWebComponents.handlerEntryAdvice(requiresKeys(web), () -> defaults.getObject().guarantee());
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static AdvisorBeanPostProcessor idempotentHandlerCallAdvisor(ObjectProvider<OperationSettings> defaults,
			ObjectProvider<IdempotencyProperties.Web> web) {
		return IdempotencyWebComponents.handlerCallAdvice(requiresKeys(web), () -> defaults.getObject().guarantee());
	}

	/**
	 * Evaluated late: a post-processor is created before the beans it depends on.
	 */
	private static BooleanSupplier requiresKeys(ObjectProvider<IdempotencyProperties.Web> web) {
		return SingletonSupplier.of(() -> !web.getObject().requiredFor().isEmpty())::obtain;
	}

	@Bean
	static IdempotentHandlerAdapter idempotentHandlerAdapter(IdempotentOperations operations) {
		return new IdempotentHandlerAdapter(operations);
	}

	@Bean
	static IdempotentHandlerMapping idempotentHandlerMapping() {
		return new IdempotentHandlerMapping();
	}

	@Bean
	FirstHandlerAdapterCheck idempotentFirstHandlerAdapterCheck(ApplicationContext context,
			IdempotentHandlerMapping mapping, IdempotentHandlerAdapter adapter) {
		return new FirstHandlerAdapterCheck(context, mapping, adapter);
	}

	@Bean
	static WebHandlers idempotentWebHandlers() {
		return IdempotencyWebComponents::isHandler;
	}

	@Bean
	HandlerExceptionResolver idempotentMethodRefusalResolver(IdempotencyWebSettings settings) {
		return IdempotencyWebComponents.methodRefusalResolver(settings);
	}

	@Bean
	static IdempotentOperations idempotentOperations() {
		return new IdempotentOperations();
	}

	@Bean
	IdempotencyWebSettings idempotencyWebSettings(KeySettings keys, IdempotencyProperties properties,
			IdempotencyProperties.Web web, ObjectProvider<ResponseRedactor> redactors,
			ObjectProvider<ProblemRenderer> problemRenderer) {
		return web.settings(keys.namespace(), properties.onError(), redactors.orderedStream().toList(),
				problemRenderer.getIfAvailable());
	}

	@Bean
	IdempotencyStartup idempotencyStartup(ListableBeanFactory beanFactory, IdempotentOperations operations,
			StartupReport report, ObjectProvider<IdempotencyTransactionSource> transactionSource,
			OperationSettings defaults, IdempotencyWebSettings settings,
			ObjectProvider<WithoutSecurity> withoutSecurity) {
		return new IdempotencyStartup(beanFactory, operations, report, transactionSource.getIfAvailable(), settings,
				defaults, withoutSecurity.getIfAvailable() == null);
	}

	/**
	 * The last filter: filters that are mapped to servlets run after those that are
	 * mapped to URL patterns. MockMvc applies the order of beans, in which a filter comes
	 * after all registrations.
	 */
	@Bean
	@FilterRegistration(servletNames = ALL_SERVLETS, matchAfter = true, dispatcherTypes = { DispatcherType.REQUEST,
			DispatcherType.ASYNC, DispatcherType.ERROR, DispatcherType.FORWARD })
	IdempotencyFilter idempotencyFilter(IdempotencyEngine engine, IdempotentOperations operations,
			IdempotencyScopeResolver scopeResolver, ObjectProvider<OneTimeTokens> tokens,
			IdempotencyWebSettings settings, IdempotentHandlerAdapter adapter) {
		return new IdempotencyFilter(engine, operations, scopeResolver, tokens::getObject,
				AuthenticatedPrincipals::current, CsrfParameters::nameIn, settings,
				IdempotencyWebComponents.viewFailureResolver(adapter));
	}

	@Bean
	FilterOrderCheck idempotencyLaterFilters(WebApplicationContext context) {
		return new FilterOrderCheck(context);
	}

	@Bean
	@ConditionalOnMissingBean(name = "idempotencyErrorFilterRegistration")
	FilterRegistrationBean<Filter> idempotencyErrorFilterRegistration() {
		FilterRegistrationBean<Filter> registration = new FirstFilter(IdempotencyWebComponents.errorFilter());
		registration.setOrder(Ordered.HIGHEST_PRECEDENCE);
		registration.setDispatcherTypes(DispatcherType.REQUEST, DispatcherType.ASYNC, DispatcherType.ERROR);
		return registration;
	}

	@Bean
	@ConditionalOnMissingBean(IdempotencyScopeResolver.class)
	PrincipalScopeResolver idempotencyScopeResolver(ObjectProvider<WithoutSecurity> withoutSecurity) {
		if (withoutSecurity.getIfAvailable() != null) {
			logger.warn("Without Spring Security, callers without a principal share one set of idempotency "
					+ "keys, and those with an Authorization header are refused; declare a bean of type "
					+ "IdempotencyScopeResolver to distinguish callers");
		}
		return new PrincipalScopeResolver(AuthenticatedPrincipals::issuerOf, AuthenticatedPrincipals::current);
	}

	/**
	 * Comes before the filters of the application that have the highest precedence, too.
	 */
	private static final class FirstFilter extends FilterRegistrationBean<Filter> implements PriorityOrdered {

		FirstFilter(Filter filter) {
			super(filter);
		}

	}

	/**
	 * Nothing tells callers apart. Evaluated before the bean method above.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnMissingClass("org.springframework.security.core.Authentication")
	@ConditionalOnMissingBean(IdempotencyScopeResolver.class)
	static class WithoutSecurity {

	}

	/**
	 * Describes idempotent operations in the OpenAPI documents of springdoc.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ GlobalOpenApiCustomizer.class, OpenAPI.class })
	@ConditionalOnBooleanProperty(name = "springdoc.api-docs.enabled", matchIfMissing = true)
	static class WithOpenApi {

		@Bean
		IdempotencyOpenApiCustomizer idempotencyOpenApiCustomizer(IdempotentOperations operations,
				IdempotencyWebSettings settings) {
			return new IdempotencyOpenApiCustomizer(operations, settings);
		}

	}

}
