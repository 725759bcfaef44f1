package dev.idempotent.idempotency.web;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;

import dev.idempotent.idempotency.Idempotent;
import org.aopalliance.intercept.MethodInterceptor;

import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Notes that an annotated handler method was entered, innermost of all advice: whatever
 * refuses a request before that (binding, validation, method security) leaves its key
 * free for a corrected one.
 */
public final class HandlerEntryAdvisor extends StaticMethodMatcherPointcutAdvisor {

	public HandlerEntryAdvisor() {
		setOrder(Ordered.LOWEST_PRECEDENCE);
		setAdvice((MethodInterceptor) (invocation) -> {
			Exchange.handlerEntered();
			return invocation.proceed();
		});
	}

	@Override
	public boolean matches(Method method, Class<?> targetClass) {
		return AnnotatedElementUtils.hasAnnotation(AopUtils.getMostSpecificMethod(method, targetClass),
				Idempotent.class) && canBeProxied(targetClass);
	}

	/**
	 * Tells whether entries into a handler's methods are noted.
	 */
	static boolean advises(Object handler) {
		return handler instanceof Advised advised
				&& Arrays.stream(advised.getAdvisors()).anyMatch(HandlerEntryAdvisor.class::isInstance);
	}

	/**
	 * A proxy of a class that cannot be extended cannot be made, and a final method would
	 * run on the proxy, which has no state.
	 */
	private static boolean canBeProxied(Class<?> type) {
		return !Modifier.isFinal(type.getModifiers()) && !type.isSealed() && hasVisibleConstructor(type)
				&& Arrays.stream(ReflectionUtils.getUniqueDeclaredMethods(type, HandlerEntryAdvisor::isOverridable))
					.noneMatch((method) -> Modifier.isFinal(method.getModifiers()));
	}

	private static boolean hasVisibleConstructor(Class<?> type) {
		return type.isInterface() || Arrays.stream(type.getDeclaredConstructors())
			.anyMatch((constructor) -> !Modifier.isPrivate(constructor.getModifiers()));
	}

	private static boolean isOverridable(Method method) {
		int modifiers = method.getModifiers();
		return method.getDeclaringClass() != Object.class && !Modifier.isPrivate(modifiers)
				&& !Modifier.isStatic(modifiers) && !method.isSynthetic();
	}

}
