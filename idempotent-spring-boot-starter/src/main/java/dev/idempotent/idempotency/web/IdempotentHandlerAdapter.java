package dev.idempotent.idempotency.web;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.HandlerAdapter;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerAdapter;

/**
 * The first handler adapter of each dispatcher servlet, which calls the others. The
 * dispatcher servlet calls it with the handler that it has found, behind all
 * interceptors: the {@link IdempotencyFilter} learns here which handler its request is
 * for, and how the call of the handler has ended. It is also the first
 * {@link HandlerExceptionResolver}, so that it is notified of failures outside the call
 * of the handler.
 */
public final class IdempotentHandlerAdapter implements HandlerAdapter, HandlerExceptionResolver, PriorityOrdered {

	private final IdempotentOperations operations;

	private final Map<WebApplicationContext, List<HandlerAdapter>> adapters = new ConcurrentHashMap<>();

	/**
	 * Creates an adapter.
	 * @param operations the operations of the handlers
	 */
	public IdempotentHandlerAdapter(IdempotentOperations operations) {
		this.operations = operations;
	}

	@Override
	public int getOrder() {
		return Ordered.HIGHEST_PRECEDENCE;
	}

	@Override
	public boolean supports(Object handler) {
		return true;
	}

	@Override
	public @Nullable ModelAndView handle(HttpServletRequest request, HttpServletResponse response, Object handler)
			throws Exception {
		HandlerAdapter adapter = adapterOf(request, handler);
		HandlerRun open = HandlerRun.of(request);
		if (open != null) {
			return handleInRun(open, adapter, request, response, handler);
		}
		// Not what an interceptor includes.
		Passage passage = (request.getDispatcherType() != DispatcherType.INCLUDE) ? Passage.of(request) : null;
		if (passage != null && !passage.reach(handler, response)) {
			return null;
		}
		HandlerRun opened = HandlerRun.of(request);
		if (opened != null) {
			return call(opened, adapter, request, response, handler);
		}
		requireNoKey(request, handler);
		return adapter.handle(request, response, handler);
	}

	/**
	 * The request has not passed the filter, or had another handler before.
	 */
	private void requireNoKey(HttpServletRequest request, Object handler) {
		if (handler instanceof HandlerMethod method && this.operations.isAnnotated(method)
				&& !HandlerRun.isResultDispatched(request)) {
			throw this.operations.learn(request.getMethod())
					? new IllegalStateException("The @Idempotent method " + method.getMethod() + " was not run: it was "
							+ "mapped to " + request.getMethod() + " after the start, or in the context of another "
							+ "dispatcher servlet, and no other one is. From now on, requests with this HTTP method "
							+ "claim their keys: send the request again.")
					: HandlerInvocationAdvisor.withoutRun(method.getMethod());
		}
	}

	/**
	 * A handler that the one of the run dispatches to is covered by its key, unless it
	 * needs a transaction of its own.
	 */
	private @Nullable ModelAndView handleInRun(HandlerRun run, HandlerAdapter adapter, HttpServletRequest request,
			HttpServletResponse response, Object handler) throws Exception {
		if (handler instanceof HandlerMethod method && run.isOf(method)) {
			return call(run, adapter, request, response, handler);
		}
		if (handler instanceof HandlerMethod method && this.operations.isAnnotated(method)
				&& !this.operations.isLeased(method, request) && !HandlerRun.isResultDispatched(request)) {
			throw HandlerInvocationAdvisor.withoutRun(method.getMethod());
		}
		ModelAndView view = adapter.handle(request, response, handler);
		run.answered(request, response, view);
		return view;
	}

	private @Nullable ModelAndView call(HandlerRun run, HandlerAdapter adapter, HttpServletRequest request,
			HttpServletResponse response, Object handler) throws Exception {
		HandlerRun before = HandlerRun.bindCalled(run);
		try {
			if (HandlerRun.isResultDispatched(request)) {
				run.resultHandled();
			}
			else {
				recordCall(run, adapter, handler);
			}
			ModelAndView view = adapter.handle(request, response, handler);
			run.callReturned();
			run.answered(request, response, view);
			if (view == null) {
				run.responseWritten(request);
			}
			return view;
		}
		catch (Exception ex) {
			run.callFailed(ex);
			throw ex;
		}
		catch (Error ex) {
			run.callFailed(new ServletException(ex));
			throw ex;
		}
		finally {
			HandlerRun.bindCalled(before);
		}
	}

	private void recordCall(HandlerRun run, HandlerAdapter adapter, Object handler) {
		if (handler instanceof HandlerMethod method) {
			boolean advised = HandlerInvocationAdvisor.isAdvised(method.getBean(), method.getMethod());
			boolean watched = advised && HandlerInvocationAdvisor.isWatched(method.getBean(), method.getMethod());
			if (!watched && this.operations.isAnnotated(method) && !callsOnce(adapter)) {
				throw new IllegalStateException("The @Idempotent method " + method.getMethod() + " was not run: advice "
						+ "cannot watch it, and the handler adapter " + adapter.getClass().getName()
						+ " would call it, so that it would not be known whether it ran. Let a class that can be "
						+ "proxied have the method.");
			}
			run.handlerCalled(method, advised, watched);
			if (watched && !callsOnce(adapter)) {
				run.calledByOther();
			}
		}
		else {
			run.handlerCalled();
		}
	}

	/**
	 * Returns whether an adapter is known to call a handler method once, and to return
	 * only if that has: the one of Spring MVC itself. An adapter that extends or replaces
	 * it may answer without the method, repeat the call or hide its exception.
	 * @param adapter the adapter
	 * @return {@code false} if it is not known
	 */
	public static boolean callsOnce(HandlerAdapter adapter) {
		return AopUtils.getTargetClass(adapter) == RequestMappingHandlerAdapter.class;
	}

	@Override
	public @Nullable ModelAndView resolveException(HttpServletRequest request, HttpServletResponse response,
			@Nullable Object handler, Exception ex) {
		HandlerRun run = HandlerRun.of(request);
		Passage passage = Passage.of(request);
		if (run != null && handler instanceof HandlerMethod method && run.isOf(method)) {
			run.callFailed(ex);
		}
		else if (run != null) {
			run.handlingFailed(ex);
		}
		else if (passage != null) {
			passage.failed(ex);
		}
		return null;
	}

	private HandlerAdapter adapterOf(HttpServletRequest request, Object handler) throws ServletException {
		WebApplicationContext context = (WebApplicationContext) request
			.getAttribute(DispatcherServlet.WEB_APPLICATION_CONTEXT_ATTRIBUTE);
		for (HandlerAdapter adapter : this.adapters.computeIfAbsent(context, this::adaptersOf)) {
			if (adapter.supports(handler)) {
				return adapter;
			}
		}
		throw new ServletException("No adapter for handler [" + handler
				+ "]: The DispatcherServlet configuration needs to include a HandlerAdapter that supports this handler");
	}

	/**
	 * As the dispatcher servlet finds them.
	 */
	private List<HandlerAdapter> adaptersOf(WebApplicationContext context) {
		List<HandlerAdapter> found = new ArrayList<>(
				BeanFactoryUtils.beansOfTypeIncludingAncestors(context, HandlerAdapter.class, true, false).values());
		found.removeIf(IdempotentHandlerAdapter.class::isInstance);
		AnnotationAwareOrderComparator.sort(found);
		return found;
	}

}
