package dev.idempotent.autoconfigure.startup;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.core.annotation.RepeatableContainers;
import org.springframework.stereotype.Controller;
import org.springframework.util.ClassUtils;

/**
 * Reads annotations of the methods of beans, whatever libraries are there.
 */
final class AnnotatedMethods {

	private static final List<String> MAPPINGS = List.of("org.springframework.web.bind.annotation.RequestMapping",
			"org.springframework.web.service.annotation.HttpExchange");

	private AnnotatedMethods() {
	}

	/**
	 * The classes to look at for a bean of a class. Of the beans of an application, most
	 * are Spring's.
	 */
	static Stream<Class<?>> typesOf(@Nullable Class<?> type) {
		if (type == null || type.getName().startsWith("org.springframework.")) {
			return Stream.empty();
		}
		return Proxy.isProxyClass(type) ? Stream.of(type.getInterfaces()) : Stream.of(ClassUtils.getUserClass(type));
	}

	static Set<Method> of(Class<?> type, Class<? extends Annotation> annotation) {
		try {
			return MethodIntrospector.selectMethods(type, (Method method) -> has(method, annotation));
		}
		catch (IllegalStateException | LinkageError ex) {
			// A class whose own libraries are missing is not to fail here.
			return Set.of();
		}
	}

	static boolean isHandler(Class<?> type, Method method) {
		MergedAnnotations annotations = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
		return MergedAnnotations.from(type, SearchStrategy.TYPE_HIERARCHY).isPresent(Controller.class)
				&& MAPPINGS.stream().anyMatch(annotations::isPresent);
	}

	private static boolean has(Method method, Class<? extends Annotation> annotation) {
		return MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY, RepeatableContainers.standardRepeatables())
			.isPresent(annotation);
	}

}
