package dev.idempotent.autoconfigure.startup;

import java.lang.annotation.Annotation;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.idempotent.aop.AnnotatedMethod;
import dev.idempotent.idempotency.Cancels;
import dev.idempotent.idempotency.Idempotent;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * Finds annotated methods whose annotation has no effect, because its feature is missing
 * or disabled. Looks at no bean if all features are present.
 */
final class IneffectiveAnnotationsCheck {

	private static final Logger logger = LoggerFactory.getLogger(IneffectiveAnnotationsCheck.class);

	static final String CHECK_BEAN_NAME = "idempotentStartupCheck";

	private static final String WEBFLUX = "org.springframework.web.reactive.DispatcherHandler";

	private final ConfigurableListableBeanFactory beans;

	private final Environment environment;

	private final List<Feature> missing;

	/**
	 * The properties that disable annotations.
	 */
	private final Map<Class<? extends Annotation>, String> disabled = new LinkedHashMap<>();

	IneffectiveAnnotationsCheck(ConfigurableListableBeanFactory beans, Environment environment) {
		this.beans = beans;
		this.environment = environment;
		this.missing = Feature.ALL.stream().filter((feature) -> feature.isMissing(beans, environment)).toList();
		Feature.ALL.stream()
			.filter((feature) -> feature.isDisabled(environment))
			.forEach((feature) -> this.disabled.put(feature.annotation(), feature.property()));
	}

	/**
	 * Checks the methods of all beans.
	 * @param typeOf finds the class of a bean by its name, or {@code null} while it is
	 * unknown
	 * @throws dev.idempotent.IdempotentConfigurationException if the feature of an
	 * annotated method is missing
	 */
	void check(Function<String, @Nullable Class<?>> typeOf) {
		Set<Class<? extends Annotation>> annotations = this.missing.stream()
			.map(Feature::annotation)
			.collect(Collectors.toCollection(LinkedHashSet::new));
		for (Class<?> type : annotations.isEmpty() ? Set.<Class<?>>of() : types(typeOf)) {
			for (Class<? extends Annotation> annotation : annotations) {
				AnnotatedMethod.findAll(annotation, type).forEach(this::check);
			}
		}
	}

	/**
	 * Logs how many annotated methods have no effect because the application has disabled
	 * their feature.
	 * @param typeOf finds the class of a bean by its name
	 */
	void logDisabled(Function<String, @Nullable Class<?>> typeOf) {
		Set<Class<?>> types = this.disabled.isEmpty() ? Set.of() : types(typeOf);
		this.disabled.forEach((annotation, property) -> {
			long found = types.stream()
				.flatMap((type) -> AnnotatedMethod.findAll(annotation, type).stream())
				.distinct()
				.count();
			if (found > 0) {
				logger.info("@{} has no effect on {}, because {} is false. Remove the property to enable it",
						annotation.getSimpleName(), (found == 1) ? "1 method" : found + " methods", property);
			}
		});
	}

	/**
	 * Checks {@code @Cancels} on the methods of all beans. A handler without its
	 * protection could run before the action that it cancels.
	 * @param typeOf finds the class of a bean by its name
	 * @throws dev.idempotent.IdempotentConfigurationException if it would have no effect
	 */
	void checkCancels(Function<String, @Nullable Class<?>> typeOf) {
		boolean enabled = Feature.isTrue(Feature.WEB.property(), this.environment);
		for (Class<?> type : types(typeOf)) {
			for (AnnotatedMethod method : AnnotatedMethod.findAll(Cancels.class, type)) {
				if (!AnnotatedElementUtils.hasAnnotation(method.method(), Idempotent.class)) {
					throw method.invalid("is not @Idempotent, so @Cancels would have no effect",
							"Add @Idempotent(guarantee = Guarantee.TRANSACTION).", null);
				}
				if (!enabled) {
					throw method.invalid("would run unprotected: " + Feature.WEB.property() + " is false",
							"Remove that property, or the annotation.", null);
				}
			}
		}
	}

	/**
	 * Most beans of an application are beans of Spring, which have no such methods.
	 */
	private Set<Class<?>> types(Function<String, @Nullable Class<?>> typeOf) {
		return Stream.of(this.beans.getBeanNamesForType(Object.class, true, false))
			.<Class<?>>mapMulti((name, types) -> {
				Class<?> type = typeOf.apply(name);
				if (type != null && !type.getName().startsWith("org.springframework.")) {
					types.accept(type);
				}
			})
			.collect(Collectors.toCollection(LinkedHashSet::new));
	}

	private void check(AnnotatedMethod method) {
		Feature feature = (method.annotation() == Feature.WEB.annotation()) ? idempotencyOf(method)
				: this.missing.stream()
					.filter((each) -> each.annotation() == method.annotation())
					.findFirst()
					.orElseThrow();
		if (this.missing.contains(feature)) {
			throw feature.noEffect(method, this.beans, this.environment);
		}
	}

	/**
	 * Without a servlet application, a handler is a method like any other.
	 */
	private Feature idempotencyOf(AnnotatedMethod method) {
		String unmet = Feature.WEB.unmetCondition(this.beans);
		boolean lacksMvc = unmet != null && unmet.startsWith("@ConditionalOnClass")
				&& !ClassUtils.isPresent(WEBFLUX, this.beans.getBeanClassLoader());
		boolean web = lacksMvc || Feature.WEB.isPresent(this.beans);
		return (web && method.isWebHandler()) ? Feature.WEB : Feature.METHOD;
	}

	/**
	 * Checks the beans of a parent or child context, where an annotation would have no
	 * effect: advice applies to the beans of its own context only. A context with the
	 * auto-configuration of this library checks itself.
	 * @param environment the environment of the own context
	 */
	static void checkRelated(ApplicationContext context, String relation, Environment environment) {
		ConfigurableListableBeanFactory beans = (context instanceof ConfigurableApplicationContext configurable)
				? configurable.getBeanFactory() : null;
		if (beans == null || beans.containsLocalBean(CHECK_BEAN_NAME)) {
			return;
		}
		List<Feature> missing = Feature.ALL.stream()
			.filter((feature) -> feature.isMissing(beans, environment))
			.toList();
		for (String name : beans.getBeanNamesForType(Object.class, true, false)) {
			String reason = "its bean '%s' is in the %s context '%s', where the auto-configuration of this library does not apply"
				.formatted(name, relation, context.getDisplayName());
			Class<?> type = AutoProxyUtils.determineTargetClass(beans, name);
			missing.forEach((feature) -> check(type, feature, reason, relation));
		}
	}

	private static void check(@Nullable Class<?> type, Feature feature, String reason, String relation) {
		for (AnnotatedMethod method : AnnotatedMethod.findAll(feature.annotation(), type)) {
			// No servlet here serves a handler of a parent context, or a servlet serves
			// it behind the filter of this context.
			if (!method.isWebHandler() || relation.equals("child")) {
				throw feature.noEffect(method, reason,
						"Declare the bean in the context that has @EnableAutoConfiguration");
			}
		}
	}

}
