package dev.idempotent.idempotency.web;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

import dev.idempotent.idempotency.Idempotent;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.web.context.request.async.WebAsyncUtils;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.AsyncHandlerInterceptor;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;

/**
 * Records what Spring MVC tells of the call of a handler: that it begins, has returned
 * normally, or has failed, before the application resolves the exception. Lets annotated
 * handlers be called only in an open run, whichever mapping, servlet or dispatch leads
 * there. The run is that of the handler, or of one that dispatches to it: its key then
 * covers both.
 */
final class HandlerCallRecorder implements AsyncHandlerInterceptor, HandlerExceptionResolver, PriorityOrdered {

	/**
	 * Whether a handler may run under the key of another one.
	 */
	private final Predicate<HandlerMethod> leased;

	private final Map<Method, Boolean> annotated = new ConcurrentHashMap<>();

	HandlerCallRecorder(Predicate<HandlerMethod> leased) {
		this.leased = leased;
	}

	@Override
	public int getOrder() {
		return Ordered.HIGHEST_PRECEDENCE;
	}

	@Override
	public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
		if (handler instanceof HandlerMethod method) {
			HandlerRun run = runOf(request, method);
			if (run != null) {
				if (!isResultDispatched(request)) {
					Object bean = method.getBean();
					boolean advised = HandlerEntryAdvisor.isAdvised(bean, method.getMethod());
					run.handlerCalled(method, advised,
							advised && HandlerEntryAdvisor.isWatched(bean, method.getMethod()));
				}
			}
			else if (isAnnotated(method) && !isCovered(request, method) && !isResultDispatched(request)) {
				throw HandlerEntryAdvisor.withoutRun(method.getMethod());
			}
		}
		requireNoOther(request, handler);
		return true;
	}

	/**
	 * The work of a handler that the filter has not found would be rolled back with the
	 * transaction of the one that it has.
	 */
	private static void requireNoOther(HttpServletRequest request, Object handler) {
		HandlerRun run = HandlerRun.of(request);
		if (run != null && run.isInTransaction() && !run.isBegun()
				&& request.getDispatcherType() == DispatcherType.REQUEST) {
			throw new IllegalStateException("Nothing was run: " + handler + " is not the handler that the idempotency "
					+ "filter has found for the same request. Let no condition of a mapping depend on what changes "
					+ "behind that filter, such as the locale.");
		}
	}

	/**
	 * A run of another handler has no transaction for this one, or not the same.
	 */
	private boolean isCovered(HttpServletRequest request, HandlerMethod method) {
		HandlerRun run = HandlerRun.of(request);
		return run != null && run.isBegun() && this.leased.test(method);
	}

	@Override
	public void postHandle(HttpServletRequest request, HttpServletResponse response, Object handler,
			@Nullable ModelAndView view) {
		callReturned(request, handler);
	}

	@Override
	public void afterConcurrentHandlingStarted(HttpServletRequest request, HttpServletResponse response,
			Object handler) {
		callReturned(request, handler);
	}

	@Override
	public @Nullable ModelAndView resolveException(HttpServletRequest request, HttpServletResponse response,
			@Nullable Object handler, Exception ex) {
		HandlerRun run = HandlerRun.of(request);
		if (run != null) {
			// The failure of asynchronous work is one of the handler itself.
			if (request.getDispatcherType() != DispatcherType.ASYNC && handler instanceof HandlerMethod method
					&& run.isOf(method)) {
				run.writingFailed();
			}
			run.handlingFailed(ex);
		}
		return null;
	}

	private static void callReturned(HttpServletRequest request, Object handler) {
		HandlerRun run = (handler instanceof HandlerMethod method) ? runOf(request, method) : null;
		if (run != null) {
			run.callReturned();
		}
	}

	private static @Nullable HandlerRun runOf(HttpServletRequest request, HandlerMethod method) {
		HandlerRun run = HandlerRun.of(request);
		return (run != null && run.isOf(method)) ? run : null;
	}

	private boolean isAnnotated(HandlerMethod method) {
		return this.annotated.computeIfAbsent(method.getMethod(),
				(key) -> method.hasMethodAnnotation(Idempotent.class));
	}

	/**
	 * Spring MVC then writes the result of asynchronous work instead of calling the
	 * handler.
	 */
	private static boolean isResultDispatched(HttpServletRequest request) {
		return WebAsyncUtils.getAsyncManager(request).hasConcurrentResult();
	}

}
