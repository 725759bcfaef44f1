package dev.idempotent.stream;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import dev.idempotent.IdempotentConfigurationException;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.StringUtils;

/**
 * Finds the listeners of an application when all its beans are there. Each is called
 * through the finished bean, with all its proxies, even one of a bean in a circle.
 */
final class Subscriptions {

	private final ConfigurableListableBeanFactory beans;

	private final @Nullable PayloadConverter conversion;

	private final List<Subscription> found = new ArrayList<>();

	Subscriptions(ConfigurableListableBeanFactory beans, @Nullable PayloadConverter conversion) {
		this.beans = beans;
		this.conversion = conversion;
	}

	List<Subscription> find() {
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
		List<Type> parameters = ListenerParameters.of(type, method);
		String stream = resolve("stream", listener.stream(), name);
		String group = resolve("group", listener.group(), name);
		if (listener.concurrency() < 1) {
			throw new IdempotentConfigurationException(
					"The @RedisStreamListener method %s has concurrency %d.".formatted(name, listener.concurrency()),
					"Set concurrency to 1 or more, or leave it out.", null);
		}
		if (this.found.stream().anyMatch((other) -> other.stream().equals(stream) && other.group().equals(group))) {
			throw new IdempotentConfigurationException(
					"The @RedisStreamListener method %s is the second for group %s of stream %s, so that each would get some of the entries."
						.formatted(name, group, stream),
					"Give each method a group of its own, or set concurrency on one method for more threads.", null);
		}
		this.found.add(new Subscription(stream, group, listener.concurrency(), method(bean, method, parameters, name)));
	}

	private ListenerMethod method(String bean, Method method, List<Type> parameters, String name) {
		Object target = this.beans.getBean(bean);
		try {
			Method invocable = AopUtils.selectInvocableMethod(method, target.getClass());
			ReflectionUtils.makeAccessible(invocable);
			return new ListenerMethod(target, invocable, parameters, conversion(parameters, name));
		}
		catch (IllegalStateException ex) {
			throw new IdempotentConfigurationException(
					"The @RedisStreamListener method %s is not in any interface of the bean's proxy.".formatted(name),
					"Add it to an interface of the bean, or set spring.aop.proxy-target-class=true.", ex);
		}
	}

	private PayloadConverter conversion(List<Type> parameters, String name) {
		if (this.conversion != null) {
			return this.conversion;
		}
		parameters.stream()
			.filter((type) -> type != byte[].class && type != String.class && !ListenerParameters.isHeaders(type))
			.findAny()
			.ifPresent((type) -> {
				throw new IdempotentConfigurationException(
						"The @RedisStreamListener method %s takes %s, and there is no Jackson to read JSON."
							.formatted(name, type.getTypeName()),
						"Add spring-boot-starter-jackson, or let the method take a byte[] or a String.", null);
			});
		return (payload, type) -> {
			throw new IllegalStateException("Nothing reads payloads");
		};
	}

	private String resolve(String attribute, String value, String name) {
		String resolved;
		try {
			resolved = this.beans.resolveEmbeddedValue(value);
		}
		catch (IllegalArgumentException ex) {
			throw new IdempotentConfigurationException(
					"The @RedisStreamListener method %s has the %s '%s', a placeholder of which has no value."
						.formatted(name, attribute, value),
					"Set the property, or give the placeholder a default like ${name:orders}.", ex);
		}
		if (!StringUtils.hasText(resolved)) {
			throw new IdempotentConfigurationException(
					"The @RedisStreamListener method %s has a blank %s.".formatted(name, attribute),
					"Name the %s of the Redis Stream to listen to."
						.formatted(attribute.equals("stream") ? "key" : "consumer group"),
					null);
		}
		return resolved;
	}

}
