package dev.idempotent.idempotency.web;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import dev.idempotent.idempotency.Idempotent;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.web.context.request.async.WebAsyncUtils;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.AsyncHandlerInterceptor;
import org.springframework.web.servlet.ModelAndView;

/**
 * Lets Spring MVC call an annotated handler only in an open run, whichever mapping,
 * servlet or dispatch leads there, and records that the call has returned normally. The
 * run is that of the handler, or of one that dispatches to it: its key then covers both.
 */
final class HandlerCallInterceptor implements AsyncHandlerInterceptor {

	private final IdempotentOperations operations;

	private final Map<Method, Boolean> annotated = new ConcurrentHashMap<>();

	HandlerCallInterceptor(IdempotentOperations operations) {
		this.operations = operations;
	}

	@Override
	public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
		if (handler instanceof HandlerMethod method) {
			HandlerRun run = runOf(request, method);
			if (run != null) {
				if (!isResultDispatched(request)) {
					run.handlerCalled(method);
				}
			}
			else if (isAnnotated(method) && !isCovered(request, method) && !isResultDispatched(request)) {
				throw HandlerEntryAdvisor.withoutRun(method.getMethod());
			}
		}
		return true;
	}

	/**
	 * A run of another handler has no transaction for this one, or not the same.
	 */
	private boolean isCovered(HttpServletRequest request, HandlerMethod method) {
		return HandlerRun.isOpen(request) && this.operations.isLeased(method);
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
