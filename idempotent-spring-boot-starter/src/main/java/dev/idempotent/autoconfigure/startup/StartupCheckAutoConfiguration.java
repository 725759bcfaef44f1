package dev.idempotent.autoconfigure.startup;

import java.util.function.Function;

import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.web.server.WebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.core.env.Environment;

/**
 * {@link AutoConfiguration Auto-configuration} that stops an application with invalid
 * properties or ineffective annotations before anything starts. It is unconditional, as
 * it looks for unmet conditions of the other auto-configurations.
 */
@AutoConfiguration
final class StartupCheckAutoConfiguration {

	/**
	 * Checks when all bean definitions are known and no bean has been created.
	 */
	@Bean(IneffectiveAnnotationsCheck.CHECK_BEAN_NAME)
	static BeanFactoryPostProcessor idempotentStartupCheck(Environment environment, ApplicationContext context) {
		return (beans) -> {
			new PropertyNamesCheck(KnownProperties.read()).check(environment);
			Feature.isTrue("idempotent.outbox.relay.enabled", environment);
			new IneffectiveAnnotationsCheck(beans, environment).check((name) -> beans.getType(name, false));
			for (ApplicationContext each = context.getParent(); each != null; each = each.getParent()) {
				IneffectiveAnnotationsCheck.checkRelated(each, "parent", environment);
			}
		};
	}

	/**
	 * A child context publishes its events to its parents as well, and fails to start if
	 * a listener throws.
	 */
	@Bean
	static ApplicationListener<ContextRefreshedEvent> idempotentChildContextsCheck(ApplicationContext context,
			Environment environment) {
		return (event) -> {
			if (event.getApplicationContext() != context) {
				IneffectiveAnnotationsCheck.checkRelated(event.getApplicationContext(), "child", environment);
			}
		};
	}

	/**
	 * Checks again when the beans have been created: the class of some is not known
	 * earlier.
	 */
	@Bean
	@Lazy(false)
	static SmartInitializingSingleton idempotentAnnotationsCheck(ConfigurableListableBeanFactory beans,
			Environment environment) {
		return () -> {
			IneffectiveAnnotationsCheck check = new IneffectiveAnnotationsCheck(beans, environment);
			check.check((name) -> createdTypeOf(name, beans));
			Function<String, @Nullable Class<?>> typeOf = (name) -> {
				Class<?> created = createdTypeOf(name, beans);
				return (created != null) ? created : beans.getType(name, false);
			};
			check.checkCancels(typeOf);
			check.logDisabled(typeOf);
		};
	}

	private static @Nullable Class<?> createdTypeOf(String name, ConfigurableListableBeanFactory beans) {
		return beans.containsSingleton(name) ? AutoProxyUtils.determineTargetClass(beans, name) : null;
	}

	/**
	 * Creates the beans of this library that validate properties before the web server:
	 * one that has begun to start reports a failure with a stack trace of its own. These
	 * beans depend on none of the application, which may need the web server.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(WebServerFactory.class)
	static class BeforeWebServer {

		private static final String AUTOCONFIGURE = "dev.idempotent.autoconfigure.";

		private static final String KEY_SETTINGS = "idempotencyKeySettings";

		@Bean
		static WebServerFactoryCustomizer<WebServerFactory> idempotentConfigurationCheck(
				ConfigurableListableBeanFactory beans) {
			return (factory) -> {
				for (String name : beans.getBeanDefinitionNames()) {
					if (isProperties(beans.getType(name, false))) {
						beans.getBean(name);
					}
				}
				if (beans.containsBeanDefinition(KEY_SETTINGS)) {
					beans.getBean(KEY_SETTINGS);
				}
			};
		}

		private static boolean isProperties(@Nullable Class<?> type) {
			return type != null && type.getName().startsWith(AUTOCONFIGURE)
					&& type.isAnnotationPresent(ConfigurationProperties.class);
		}

	}

}
