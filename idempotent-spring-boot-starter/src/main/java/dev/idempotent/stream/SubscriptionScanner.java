package dev.idempotent.stream;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.stream.Subscription.ListenerMethod;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.MethodParameter;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.StringUtils;

/**
 * Finds the listener methods of all beans. Each is called through the fully initialized
 * bean, including its proxies.
 */
final class SubscriptionScanner {

	private static final String ASYNC = "org.springframework.scheduling.annotation.Async";

	private final ConfigurableListableBeanFactory beans;

	private final @Nullable PayloadConverter converter;

	private final List<Subscription> found = new ArrayList<>();

	SubscriptionScanner(ConfigurableListableBeanFactory beans, @Nullable PayloadConverter converter) {
		this.beans = beans;
		this.converter = converter;
	}

	List<Subscription> scan() {
		for (String name : this.beans.getBeanNamesForType(Object.class, true, false)) {
			Class<?> type = ScopedProxyUtils.isScopedTarget(name) ? null : typeOf(name);
			if (type != null && AnnotationUtils.isCandidateClass(type, RedisStreamListener.class)) {
				MethodIntrospector
					.selectMethods(type,
							(Method method) -> AnnotatedElementUtils.hasAnnotation(method, RedisStreamListener.class))
					.forEach((method) -> add(name, type, method));
			}
		}
		return this.found;
	}

	private @Nullable Class<?> typeOf(String name) {
		String target = ScopedProxyUtils.getTargetBeanName(name);
		return AutoProxyUtils.determineTargetClass(this.beans,
				this.beans.containsBeanDefinition(target) ? target : name);
	}

	private void add(String bean, Class<?> type, Method method) {
		RedisStreamListener listener = Objects
			.requireNonNull(AnnotatedElementUtils.findMergedAnnotation(method, RedisStreamListener.class));
		String name = IdempotentConfigurationException.describe(ClassUtils.getUserClass(type), method);
		List<Type> parameters = parameters(type, method);
		String stream = resolve("stream", listener.stream(), name);
		String group = resolve("group", listener.group(), name);
		if (listener.concurrency() < 1) {
			throw new IdempotentConfigurationException("The @RedisStreamListener method %s has a concurrency of %d."
				.formatted(name, listener.concurrency()), "Set concurrency to 1 or more, or omit it.", null);
		}
		if (this.found.stream().anyMatch((other) -> other.stream().equals(stream) && other.group().equals(group))) {
			throw new IdempotentConfigurationException(
					"The @RedisStreamListener method %s is the second one for group %s of stream %s, and each would receive only some of the entries."
						.formatted(name, group, stream),
					"Use a separate group for each method, or set concurrency on one method for more threads.", null);
		}
		this.found.add(new Subscription(stream, group, listener.concurrency(), method(bean, method, parameters, name)));
	}

	private ListenerMethod method(String bean, Method method, List<Type> parameters, String name) {
		Object target = this.beans.getBean(bean);
		try {
			Method invocable = AopUtils.selectInvocableMethod(method, target.getClass());
			ReflectionUtils.makeAccessible(invocable);
			return new ListenerMethod(target, invocable, parameters, converter(parameters, name));
		}
		catch (IllegalStateException ex) {
			throw new IdempotentConfigurationException(
					"The @RedisStreamListener method %s is not declared by an interface of the bean's proxy."
						.formatted(name),
					"Declare it in an interface of the bean, or set spring.aop.proxy-target-class=true.", ex);
		}
	}

	private PayloadConverter converter(List<Type> parameters, String name) {
		if (this.converter != null) {
			return this.converter;
		}
		parameters.stream()
			.filter((type) -> type != byte[].class && type != String.class && !ListenerMethod.isHeaders(type))
			.findAny()
			.ifPresent((type) -> {
				throw new IdempotentConfigurationException(
						"The @RedisStreamListener method %s takes %s, and Jackson is not available to read JSON."
							.formatted(name, type.getTypeName()),
						"Add spring-boot-starter-jackson, or declare the parameter as byte[] or String.", null);
			});
		return (payload, type) -> {
			throw new IllegalStateException("No PayloadConverter is available");
		};
	}

	private String resolve(String attribute, String value, String name) {
		String resolved;
		try {
			resolved = this.beans.resolveEmbeddedValue(value);
		}
		catch (IllegalArgumentException ex) {
			throw new IdempotentConfigurationException(
					"The @RedisStreamListener method %s has the %s '%s' with an unresolvable placeholder."
						.formatted(name, attribute, value),
					"Set the property, or give the placeholder a default such as ${name:orders}.", ex);
		}
		if (!StringUtils.hasText(resolved)) {
			throw new IdempotentConfigurationException(
					"The @RedisStreamListener method %s has a blank %s.".formatted(name, attribute),
					"Set it to the %s of the Redis Stream to listen to."
						.formatted(attribute.equals("stream") ? "key" : "consumer group"),
					null);
		}
		return resolved;
	}

	/**
	 * The types of the parameters.
	 * @throws IdempotentConfigurationException if the method cannot take an entry, or may
	 * return before its work is done
	 */
	private static List<Type> parameters(Class<?> type, Method method) {
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
