package dev.idempotent.autoconfigure.startup;

import java.lang.reflect.Method;
import java.util.List;

import dev.idempotent.IdempotentConfigurationException;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextRefreshedEvent;

/**
 * Finds annotations on beans of other contexts, where they would have no effect: advice
 * comes to the beans of its own context alone. A context with the auto-configuration of
 * this library checks itself.
 */
final class RelatedContexts implements ApplicationListener<ContextRefreshedEvent> {

	private static final String CHECKS_ITSELF = "idempotentStartCheck";

	private final ApplicationContext own;

	RelatedContexts(ApplicationContext own) {
		this.own = own;
	}

	/**
	 * Checks all contexts above.
	 * @throws dev.idempotent.IdempotentConfigurationException if an annotation would have
	 * no effect
	 */
	void checkParents() {
		ApplicationContext parent = this.own.getParent();
		while (parent != null) {
			check(parent, "parent");
			parent = parent.getParent();
		}
	}

	/**
	 * A child context publishes its events to its parents too, and does not start if a
	 * listener fails.
	 */
	@Override
	public void onApplicationEvent(ContextRefreshedEvent event) {
		if (event.getApplicationContext() != this.own) {
			check(event.getApplicationContext(), "child");
		}
	}

	private void check(ApplicationContext context, String relation) {
		ConfigurableListableBeanFactory beans = (context instanceof ConfigurableApplicationContext configurable)
				? configurable.getBeanFactory() : null;
		if (beans == null || beans.containsLocalBean(CHECKS_ITSELF)) {
			return;
		}
		List<AnnotationSupport> engines = AnnotationSupport.ALL.stream()
			.filter((engine) -> engine.isMissing(beans, this.own.getEnvironment()))
			.toList();
		for (String name : beans.getBeanNamesForType(Object.class, true, false)) {
			String place = "its bean '%s' is in the %s context '%s', where the auto-configuration of this library does not apply"
				.formatted(name, relation, context.getDisplayName());
			AnnotatedMethods.typesOf(AutoProxyUtils.determineTargetClass(beans, name))
				.forEach((type) -> engines.forEach((engine) -> check(type, engine, place, relation)));
		}
	}

	private void check(Class<?> type, AnnotationSupport engine, String place, String relation) {
		for (Method method : AnnotatedMethods.of(type, engine.annotation())) {
			boolean handler = AnnotatedMethods.isHandler(type, method);
			// A handler of a parent is served by no servlet here, or through this
			// context's filter.
			if (!handler || relation.equals("child")) {
				throw engine.mistake(IdempotentConfigurationException.describe(type, method), place,
						"Declare the bean in the context that has @EnableAutoConfiguration");
			}
		}
	}

}
