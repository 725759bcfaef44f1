package dev.idempotent.autoconfigure.startup;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;

import dev.idempotent.IdempotentConfigurationException;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * Finds annotations that would have no effect, on the methods of all beans. Looks at no
 * bean if each annotation has its effect: then the engines check their methods.
 */
final class SilentAnnotationsCheck {

	private static final String WEBFLUX = "org.springframework.web.reactive.DispatcherHandler";

	private final ConfigurableListableBeanFactory beans;

	private final Set<AnnotationSupport> missing = new LinkedHashSet<>();

	SilentAnnotationsCheck(ConfigurableListableBeanFactory beans, Environment environment) {
		this.beans = beans;
		AnnotationSupport.ALL.stream()
			.filter((engine) -> engine.isMissing(beans, environment))
			.forEach(this.missing::add);
		AnnotationSupport.isOn("idempotent.outbox.relay.enabled", environment);
	}

	/**
	 * Checks all beans.
	 * @param typeOf tells the class of a bean by its name, if it is known
	 * @throws dev.idempotent.IdempotentConfigurationException if an annotation would have
	 * no effect
	 */
	void check(Function<String, @Nullable Class<?>> typeOf) {
		if (this.missing.isEmpty()) {
			return;
		}
		for (String name : this.beans.getBeanNamesForType(Object.class, true, false)) {
			Class<?> type = typeOf.apply(name);
			AnnotatedMethods.typesOf(type).forEach(this::check);
		}
	}

	private void check(Class<?> type) {
		this.missing.stream()
			.map(AnnotationSupport::annotation)
			.distinct()
			.forEach((annotation) -> AnnotatedMethods.of(type, annotation)
				.forEach((method) -> check(type, method, annotation)));
	}

	private void check(Class<?> type, Method method, Class<? extends Annotation> annotation) {
		Predicate<AnnotationSupport> mine = (engine) -> engine.annotation() == annotation;
		AnnotationSupport engine = (annotation != AnnotationSupport.WEB.annotation())
				? this.missing.stream().filter(mine).findFirst().orElseThrow() : engineOf(type, method);
		if (this.missing.contains(engine)) {
			throw engine.mistake(IdempotentConfigurationException.describe(type, method), this.beans);
		}
	}

	/**
	 * What is no handler of Spring MVC is a method like any other.
	 */
	private AnnotationSupport engineOf(Class<?> type, Method method) {
		boolean lacksMvc = this.missing.contains(AnnotationSupport.WEB)
				&& AnnotationSupport.WEB.missingPiece(this.beans) != null
				&& !ClassUtils.isPresent(WEBFLUX, this.beans.getBeanClassLoader());
		boolean web = lacksMvc || AnnotationSupport.WEB.isRunning(this.beans);
		return (web && AnnotatedMethods.isHandler(type, method)) ? AnnotationSupport.WEB : AnnotationSupport.METHOD;
	}

}
