package dev.idempotent.idempotency.web;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import dev.idempotent.aop.InnermostAdvice;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.stereotype.Controller;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.InitBinder;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.service.annotation.HttpExchange;
import org.springframework.web.servlet.DispatcherServlet;

/**
 * Watches the calls of handler methods that Spring MVC makes in a {@link HandlerRun},
 * from two places: the first one, outside all other advice, marks the call as the call of
 * its run; the second one, inside all other advice, records whether, where and how often
 * the method itself was entered, and how it ended.
 */
final class HandlerInvocationAdvisor extends StaticMethodMatcherPointcutAdvisor {

	private static final String RUN = HandlerInvocationAdvisor.class.getName() + ".RUN";

	private static final List<Class<? extends Annotation>> CALLED_BY_MVC = List.of(RequestMapping.class,
			HttpExchange.class, ExceptionHandler.class, ModelAttribute.class, InitBinder.class);

	private final boolean innermost;

	private final BooleanSupplier unannotated;

	private final Supplier<Guarantee> guarantee;

	private final Map<Handler, Boolean> matches = new ConcurrentHashMap<>();

	/**
	 * Creates an advisor.
	 * @param innermost whether it is inside all other advice, instead of outside
	 * @param unannotated whether to watch handlers without annotation, too
	 * @param guarantee the guarantee by default
	 */
	HandlerInvocationAdvisor(boolean innermost, BooleanSupplier unannotated, Supplier<Guarantee> guarantee) {
		this.innermost = innermost;
		this.unannotated = unannotated;
		this.guarantee = guarantee;
		// Spares the methods of all other beans.
		setClassFilter(HandlerInvocationAdvisor::isController);
		MethodInterceptor advice = innermost ? this::enter : HandlerInvocationAdvisor::mark;
		setAdvice(advice);
	}

	@Override
	public boolean matches(Method method, Class<?> targetClass) {
		Handler handler = new Handler(targetClass, AopUtils.getMostSpecificMethod(method, targetClass));
		Boolean known = this.matches.get(handler);
		if (known == null) {
			// May create beans, which calls this method again for their methods.
			known = isHandler(targetClass, handler.method())
					&& (isAnnotated(handler.method()) || this.unannotated.getAsBoolean());
			this.matches.put(handler, known);
		}
		return known;
	}

	private static boolean isAnnotated(Method method) {
		return AnnotatedElementUtils.hasAnnotation(method, Idempotent.class);
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
	 * No part of the call is undone any more once it has returned here. Advice may pass
	 * the call to another thread, which the request is not bound to.
	 */
	private static @Nullable Object mark(MethodInvocation invocation) throws Throwable {
		HandlerRun run = awaiting(invocation.getMethod());
		if (run != null && invocation instanceof ProxyMethodInvocation call) {
			call.setUserAttribute(RUN, run);
		}
		Object result = invocation.proceed();
		if (run != null) {
			run.callAnswered();
		}
		return result;
	}

	private @Nullable Object enter(MethodInvocation invocation) throws Throwable {
		HandlerRun run = runOf(invocation);
		if (run == null) {
			requireRun(invocation.getMethod(), invocation.getThis());
			return invocation.proceed();
		}
		if (isWatched(invocation.getThis(), invocation.getMethod())) {
			return invocation.proceed();
		}
		run.methodEntered();
		try {
			return run.methodReturned(invocation.getMethod().getReturnType(), invocation.proceed());
		}
		catch (Throwable ex) {
			run.methodFailed(ex);
			throw ex;
		}
	}

	/**
	 * Called by other code, perhaps by the handler itself. What handles a request must
	 * not call an annotated handler without a key, such as a functional endpoint, or
	 * without the transaction that it relies on.
	 */
	private void requireRun(Method method, @Nullable Object target) {
		RequestAttributes request = RequestContextHolder.getRequestAttributes();
		if ((request == null || !isInServlet(request)) && HandlerRun.mayBeCalledByOther(method)) {
			throw new IllegalStateException("The @Idempotent method " + method + " was not run: a handler adapter of "
					+ "the application has called it on a thread that does not have its request, so that it would not "
					+ "be known whether it ran. Let the adapter call it on the thread of the request, or bind the "
					+ "request to the other thread with RequestContextHolder.");
		}
		if (request == null || target == null || !isInServlet(request)) {
			return;
		}
		Idempotent annotation = AnnotatedElementUtils.findMergedAnnotation(
				AopUtils.getMostSpecificMethod(method, AopUtils.getTargetClass(target)), Idempotent.class);
		HandlerRun run = HandlerRun.of(request);
		if (annotation != null && (run == null || (isInTransaction(annotation) && !run.isInTransaction()))) {
			throw withoutRun(method);
		}
	}

	private boolean isInTransaction(Idempotent annotation) {
		Guarantee own = annotation.guarantee();
		return ((own != Guarantee.DEFAULT) ? own : this.guarantee.get()) == Guarantee.TRANSACTION;
	}

	static IllegalStateException withoutRun(Method method) {
		return new IllegalStateException("The @Idempotent method " + method + " was not run: no key was claimed for "
				+ "it. That is so (1) for a request that did not pass the idempotency filter, (2) for a forward, an "
				+ "include, a dispatch or an error page of a servlet, or of a handler without @Idempotent or with "
				+ "another guarantee, and (3) for a call by such a handler, an interceptor or a functional endpoint. Let "
				+ "requests pass that filter, and call a service instead of such methods.");
	}

	private static boolean isInServlet(RequestAttributes request) {
		return request.getAttribute(DispatcherServlet.WEB_APPLICATION_CONTEXT_ATTRIBUTE,
				RequestAttributes.SCOPE_REQUEST) != null;
	}

	private static @Nullable HandlerRun runOf(MethodInvocation invocation) {
		Object marked = (invocation instanceof ProxyMethodInvocation call) ? call.getUserAttribute(RUN) : null;
		// Another proxy around this one has the mark on a call of its own.
		return (marked != null) ? (HandlerRun) marked : awaiting(invocation.getMethod());
	}

	private static @Nullable HandlerRun awaiting(Method method) {
		HandlerRun called = HandlerRun.called();
		if (called != null && called.awaitsEntryInto(method)) {
			return called;
		}
		RequestAttributes request = RequestContextHolder.getRequestAttributes();
		HandlerRun run = (request != null) ? HandlerRun.of(request) : null;
		return (run != null && run.awaitsEntryInto(method)) ? run : null;
	}

	/**
	 * Returns whether calls of a handler method by Spring MVC pass through advice.
	 */
	static boolean isAdvised(Object bean, Method method) {
		return AopUtils.isAopProxy(bean)
				&& (AopUtils.isJdkDynamicProxy(bean) || (!Modifier.isPrivate(method.getModifiers())
						&& isOverridable(AopUtils.getTargetClass(bean), method)));
	}

	/**
	 * Returns whether the entry into a handler method is recorded, with no advice of the
	 * application in between.
	 */
	static boolean isWatched(@Nullable Object bean, Method method) {
		return InnermostAdvice.isIn(bean, method,
				(advisor) -> advisor instanceof HandlerInvocationAdvisor entry && entry.innermost);
	}

	/**
	 * Returns whether to create a proxy for a controller that has none.
	 */
	static boolean needsProxy(Class<?> type) {
		return isController(type) && canBeProxied(type)
				&& !MethodIntrospector
					.selectMethods(type, (ReflectionUtils.MethodFilter) HandlerInvocationAdvisor::isAnnotated)
					.isEmpty();
	}

	/**
	 * A final class cannot be proxied, and a method that the proxy cannot override would
	 * run on the proxy, which has no state. Spring MVC calls private methods, too.
	 */
	private static boolean canBeProxied(Class<?> type) {
		return !Modifier.isFinal(type.getModifiers()) && !type.isSealed() && hasVisibleConstructor(type)
				&& Arrays
					.stream(ReflectionUtils.getUniqueDeclaredMethods(type, HandlerInvocationAdvisor::isInstanceMethod))
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
