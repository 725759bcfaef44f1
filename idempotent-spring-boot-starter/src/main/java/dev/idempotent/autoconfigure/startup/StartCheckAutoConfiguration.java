package dev.idempotent.autoconfigure.startup;

import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.web.server.WebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;

/**
 * Stops an application with a mistake before anything starts. Has no condition: what it
 * looks for is that those of others are not met.
 */
@AutoConfiguration
public final class StartCheckAutoConfiguration {

	/**
	 * When all beans are known and none has been created.
	 */
	@Bean
	static BeanFactoryPostProcessor idempotentStartCheck(Environment environment, ApplicationContext context) {
		return (beans) -> {
			new PropertyNamesCheck(KnownProperties.read()).check(environment);
			new SilentAnnotationsCheck(beans, environment).check((name) -> beans.getType(name, false));
			new RelatedContexts(context).checkParents();
		};
	}

	@Bean
	static RelatedContexts idempotentChildContextsCheck(ApplicationContext context) {
		return new RelatedContexts(context);
	}

	/**
	 * Of some beans, what they are shows only when they have been created.
	 */
	@Bean
	@Lazy(false)
	static SmartInitializingSingleton idempotentAnnotationsCheck(ConfigurableListableBeanFactory beans,
			Environment environment) {
		return () -> new SilentAnnotationsCheck(beans, environment)
			.check((name) -> beans.containsSingleton(name) ? AutoProxyUtils.determineTargetClass(beans, name) : null);
	}

	/**
	 * A server that has begun to start reports a failure with a stack trace of its own.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(WebServerFactory.class)
	static class BeforeWebServer {

		@Bean
		static WebServerFactoryCustomizer<WebServerFactory> idempotentConfigurationCheck(
				ConfigurableListableBeanFactory beans) {
			return (factory) -> new ConfiguredBeans(beans).create();
		}

	}

}
