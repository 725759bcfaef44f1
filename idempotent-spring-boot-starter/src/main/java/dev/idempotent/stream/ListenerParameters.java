package dev.idempotent.stream;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;

import dev.idempotent.IdempotentConfigurationException;
import org.springframework.core.MethodParameter;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.util.ClassUtils;

/**
 * Validates the signature of a listener method.
 */
final class ListenerParameters {

	private static final String ASYNC = "org.springframework.scheduling.annotation.Async";

	private ListenerParameters() {
	}

	/**
	 * The types of the parameters.
	 * @throws IdempotentConfigurationException if the method cannot take an entry, or may
	 * return before its work is done
	 */
	static List<Type> of(Class<?> type, Method method) {
		String name = IdempotentConfigurationException.describe(ClassUtils.getUserClass(type), method);
		if (Modifier.isStatic(method.getModifiers()) || Modifier.isPrivate(method.getModifiers())) {
			throw new IdempotentConfigurationException(
					"The @RedisStreamListener method %s is private or static, so that a proxy cannot intercept it."
						.formatted(name),
					"Make it an instance method that is not private.", null);
		}
		requireEndWithReturn(method, name);
		List<Type> parameters = new ArrayList<>();
		for (int i = 0; i < method.getParameterCount(); i++) {
			parameters
				.add(ResolvableType.forMethodParameter(new MethodParameter(method, i), ResolvableType.forClass(type))
					.getType());
		}
		long headers = parameters.stream().filter(ListenerMethod::isHeaders).count();
		if (headers > 1 || parameters.size() - headers > 1) {
			throw new IdempotentConfigurationException(
					"The @RedisStreamListener method %s has %d parameters for headers and %d for the payload."
						.formatted(name, headers, parameters.size() - headers),
					"Declare at most one Map<String, String>, which receives the headers, and one other parameter, "
							+ "which receives the payload.",
					null);
		}
		return parameters;
	}

	private static void requireEndWithReturn(Method method, String name) {
		Class<?> result = method.getReturnType();
		if (CompletionStage.class.isAssignableFrom(result) || Future.class.isAssignableFrom(result)
				|| isPublisher(result) || MergedAnnotations.from(method).isPresent(ASYNC)) {
			throw new IdempotentConfigurationException(
					"The @RedisStreamListener method %s may return before its work is done, and the entry would be "
						.formatted(name) + "acknowledged too early.",
					"Do the work on the calling thread and return no future or publisher; set concurrency for more "
							+ "threads.",
					null);
		}
	}

	private static boolean isPublisher(Class<?> result) {
		return ClassUtils.getAllInterfacesForClassAsSet(result)
			.stream()
			.anyMatch((type) -> type.getName().equals("org.reactivestreams.Publisher"));
	}

}
