package dev.idempotent.idempotency.web;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;

import dev.idempotent.idempotency.Idempotent;
import jakarta.servlet.ServletRequest;
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.stereotype.Controller;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.InitBinder;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.service.annotation.HttpExchange;
import org.springframework.web.servlet.HandlerMapping;

/**
 * Records that an annotated handler method was entered, inside all other advice: if
 * binding, validation or method security rejects a request, its key is released for a
 * corrected request. Rejects a request that has bypassed the filter.
 */
final class HandlerEntryAdvisor extends StaticMethodMatcherPointcutAdvisor {

	private static final String PASSED = HandlerEntryAdvisor.class.getName() + ".PASSED";

	private static final List<Class<? extends Annotation>> CALLED_BY_MVC = List.of(RequestMapping.class,
			HttpExchange.class, ExceptionHandler.class, ModelAttribute.class, InitBinder.class);

	HandlerEntryAdvisor() {
		setOrder(Ordered.LOWEST_PRECEDENCE);
		// Spares the methods of all other beans.
		setClassFilter(HandlerEntryAdvisor::isController);
		setAdvice((MethodInterceptor) (invocation) -> {
			HandlerRun run = enter(invocation.getMethod());
			try {
				Object value = invocation.proceed();
				return (run != null) ? run.handlerReturned(invocation.getMethod(), value) : value;
			}
			finally {
				if (run != null) {
					run.handlerLeft();
				}
			}
		});
	}

	@Override
	public boolean matches(Method method, Class<?> targetClass) {
		Method specific = AopUtils.getMostSpecificMethod(method, targetClass);
		return AnnotatedElementUtils.hasAnnotation(specific, Idempotent.class) && isHandler(targetClass, specific)
				&& canBeProxied(targetClass);
	}

	/**
	 * Returns whether Spring MVC maps requests to a method.
	 */
	static boolean isHandler(Class<?> type, Method method) {
		return isController(type) && (AnnotatedElementUtils.hasAnnotation(method, RequestMapping.class)
				|| AnnotatedElementUtils.hasAnnotation(method, HttpExchange.class));
	}

	private static boolean isController(Class<?> type) {
		return AnnotatedElementUtils.hasAnnotation(type, Controller.class);
	}

	/**
	 * Records that the filter has found no operation for a request.
	 */
	static void markPassed(ServletRequest request) {
		request.setAttribute(PASSED, true);
	}

	private static @Nullable HandlerRun enter(Method method) {
		RequestAttributes request = RequestContextHolder.getRequestAttributes();
		HandlerRun run = (request != null) ? HandlerRun.of(request) : null;
		if (run != null) {
			run.handlerEntered();
		}
		else if (request != null && request.getAttribute(PASSED, RequestAttributes.SCOPE_REQUEST) != null
				&& isHandler(method, request)) {
			throw bypassed(method);
		}
		return run;
	}

	/**
	 * Creates the exception for a request that has bypassed the filter.
	 */
	static IllegalStateException bypassed(Method method) {
		return new IllegalStateException("The @Idempotent method " + method + " was not run: the request had "
				+ "another URL when it passed the idempotency filter, or the method was mapped after the start, so the "
				+ "request has no key. Place filters that rewrite URLs before that filter, and do not forward to such "
				+ "methods.");
	}

	/**
	 * Other beans may call the method while they handle another request.
	 */
	private static boolean isHandler(Method method, RequestAttributes request) {
		return request.getAttribute(HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE,
				RequestAttributes.SCOPE_REQUEST) instanceof HandlerMethod handler && handler.getMethod().equals(method);
	}

	/**
	 * Returns whether the entry into a handler's methods is recorded.
	 */
	static boolean advises(Object handler) {
		if (handler instanceof Advised advised) {
			for (Advisor advisor : advised.getAdvisors()) {
				if (advisor instanceof HandlerEntryAdvisor) {
					return true;
				}
			}
		}
		return false;
	}

	/**
	 * A final class cannot be proxied, and a method that the proxy cannot override would
	 * run on the proxy, which has no state. Spring MVC calls private methods, too.
	 */
	private static boolean canBeProxied(Class<?> type) {
		return !Modifier.isFinal(type.getModifiers()) && !type.isSealed() && hasVisibleConstructor(type)
				&& Arrays.stream(ReflectionUtils.getUniqueDeclaredMethods(type, HandlerEntryAdvisor::isInstanceMethod))
					.allMatch((method) -> Modifier.isPrivate(method.getModifiers()) ? !isCalledByMvc(method)
							: isOverridable(type, method));
	}

	private static boolean hasVisibleConstructor(Class<?> type) {
		return type.isInterface() || Arrays.stream(type.getDeclaredConstructors())
			.anyMatch((constructor) -> !Modifier.isPrivate(constructor.getModifiers()));
	}

	private static boolean isInstanceMethod(Method method) {
		return method.getDeclaringClass() != Object.class && !Modifier.isStatic(method.getModifiers())
				&& !method.isSynthetic();
	}

	private static boolean isOverridable(Class<?> type, Method method) {
		int modifiers = method.getModifiers();
		return !Modifier.isFinal(modifiers) && (Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers)
				|| method.getDeclaringClass().getPackageName().equals(type.getPackageName()));
	}

	private static boolean isCalledByMvc(Method method) {
		return CALLED_BY_MVC.stream().anyMatch((annotation) -> AnnotatedElementUtils.hasAnnotation(method, annotation));
	}

}
