package dev.idempotent.autoconfigure.startup;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;

import dev.idempotent.idempotency.operation.OperationTerms;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.core.annotation.RepeatableContainers;
import org.springframework.core.env.Environment;
import org.springframework.stereotype.Controller;
import org.springframework.util.ClassUtils;

/**
 * Finds annotations that would have no effect, on the methods of all beans. Looks at no
 * bean if each annotation has its effect: then the engines check their methods.
 */
final class SilentAnnotationsCheck {

	private static final List<String> MAPPINGS = List.of("org.springframework.web.bind.annotation.RequestMapping",
			"org.springframework.web.service.annotation.HttpExchange");

	private static final String WEBFLUX = "org.springframework.web.reactive.DispatcherHandler";

	private final ConfigurableListableBeanFactory beans;

	private final Set<Engine> missing = new LinkedHashSet<>();

	SilentAnnotationsCheck(ConfigurableListableBeanFactory beans, Environment environment) {
		this.beans = beans;
		Engine.ALL.stream().filter((engine) -> engine.isMissing(beans, environment)).forEach(this.missing::add);
		Engine.isOn("idempotent.outbox.courier.enabled", environment);
	}

	/**
	 * Checks all beans.
	 * @param typeOf tells the class of a bean by its name, if it is known
	 * @throws dev.idempotent.idempotency.IdempotencyConfigurationException if an
	 * annotation would have no effect
	 */
	void check(Function<String, @Nullable Class<?>> typeOf) {
		if (this.missing.isEmpty()) {
			return;
		}
		for (String name : this.beans.getBeanNamesForType(Object.class, true, false)) {
			Class<?> type = typeOf.apply(name);
			// Of the beans of an application, most are Spring's.
			if (type != null && !type.getName().startsWith("org.springframework.")) {
				typesOf(type).forEach(this::check);
			}
		}
	}

	private static Stream<Class<?>> typesOf(Class<?> type) {
		return Proxy.isProxyClass(type) ? Stream.of(type.getInterfaces()) : Stream.of(ClassUtils.getUserClass(type));
	}

	private void check(Class<?> type) {
		this.missing.stream()
			.map(Engine::annotation)
			.distinct()
			.forEach((annotation) -> methods(type, annotation).forEach((method) -> check(type, method, annotation)));
	}

	private static Set<Method> methods(Class<?> type, Class<? extends Annotation> annotation) {
		try {
			return MethodIntrospector.selectMethods(type, (Method method) -> has(method, annotation));
		}
		catch (IllegalStateException | LinkageError ex) {
			// A class whose own libraries are missing is not to fail here.
			return Set.of();
		}
	}

	private static boolean has(Method method, Class<? extends Annotation> annotation) {
		return MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY, RepeatableContainers.standardRepeatables())
			.isPresent(annotation);
	}

	private void check(Class<?> type, Method method, Class<? extends Annotation> annotation) {
		Predicate<Engine> mine = (engine) -> engine.annotation() == annotation;
		Engine engine = (annotation != Engine.WEB.annotation())
				? this.missing.stream().filter(mine).findFirst().orElseThrow() : engineOf(type, method);
		if (this.missing.contains(engine)) {
			throw engine.mistake(OperationTerms.describe(type, method), this.beans);
		}
	}

	/**
	 * What is no handler of Spring MVC is a method like any other.
	 */
	private Engine engineOf(Class<?> type, Method method) {
		boolean lacksMvc = this.missing.contains(Engine.WEB) && Engine.WEB.missingPiece(this.beans) != null
				&& !ClassUtils.isPresent(WEBFLUX, this.beans.getBeanClassLoader());
		boolean web = lacksMvc || Engine.WEB.isRunning(this.beans);
		return (web && isHandler(type, method)) ? Engine.WEB : Engine.METHOD;
	}

	private static boolean isHandler(Class<?> type, Method method) {
		MergedAnnotations annotations = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
		return MergedAnnotations.from(type, SearchStrategy.TYPE_HIERARCHY).isPresent(Controller.class)
				&& MAPPINGS.stream().anyMatch(annotations::isPresent);
	}

}
