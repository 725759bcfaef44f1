package dev.idempotent.autoconfigure.startup;

import java.util.List;

import dev.idempotent.advice.AnnotatedMethod;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextRefreshedEvent;

/**
 * Finds annotated methods in parent and child contexts, where the annotation would have
 * no effect: advice applies to the beans of its own context only. A context with the
 * auto-configuration of this library checks itself.
 */
final class RelatedContextsCheck implements ApplicationListener<ContextRefreshedEvent> {

	static final String CHECK_BEAN_NAME = "idempotentStartupCheck";

	private final ApplicationContext own;

	RelatedContextsCheck(ApplicationContext own) {
		this.own = own;
	}

	/**
	 * Checks all parent contexts.
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
	 * A child context publishes its events to its parents as well, and fails to start if
	 * a listener throws.
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
		if (beans == null || beans.containsLocalBean(CHECK_BEAN_NAME)) {
			return;
		}
		List<Feature> missing = Feature.ALL.stream()
			.filter((feature) -> feature.isMissing(beans, this.own.getEnvironment()))
			.toList();
		for (String name : beans.getBeanNamesForType(Object.class, true, false)) {
			String reason = "its bean '%s' is in the %s context '%s', where the auto-configuration of this library does not apply"
				.formatted(name, relation, context.getDisplayName());
			Class<?> type = AutoProxyUtils.determineTargetClass(beans, name);
			missing.forEach((feature) -> check(type, feature, reason, relation));
		}
	}

	private void check(@Nullable Class<?> type, Feature feature, String reason, String relation) {
		for (AnnotatedMethod method : AnnotatedMethod.findAll(feature.annotation(), type)) {
			// No servlet here serves a handler of a parent context, or it does so behind
			// the filter of this context.
			if (!method.isWebHandler() || relation.equals("child")) {
				throw feature.noEffect(method, reason,
						"Declare the bean in the context that has @EnableAutoConfiguration");
			}
		}
	}

}
