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
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.context.request.async.WebAsyncUtils;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.HandlerAdapter;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.ModelAndView;

/**
 * The first handler adapter of each dispatcher servlet, which calls the others. The
 * dispatcher servlet calls it with the handler that it has found, behind all
 * interceptors: the {@link IdempotencyFilter} learns here which handler its request is
 * for, and how the call of the handler has ended. It must be registered as the last
 * interceptor, too, which is called when a view has been rendered; as the first exception
 * resolver, which it is as a bean, it learns what has failed beside the call.
 */
public final class IdempotentHandlerAdapter
		implements HandlerAdapter, HandlerInterceptor, HandlerExceptionResolver, PriorityOrdered {

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
		// Not what an interceptor includes, or another servlet forwards to.
		Passage passage = (request.getDispatcherType() == DispatcherType.REQUEST) ? Passage.of(request) : null;
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
				&& !isResultDispatched(request)) {
			throw HandlerEntryAdvisor.withoutRun(method.getMethod());
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
				&& !this.operations.isLeased(method, request) && !isResultDispatched(request)) {
			throw HandlerEntryAdvisor.withoutRun(method.getMethod());
		}
		return adapter.handle(request, response, handler);
	}

	private static @Nullable ModelAndView call(HandlerRun run, HandlerAdapter adapter, HttpServletRequest request,
			HttpServletResponse response, Object handler) throws Exception {
		try {
			if (isResultDispatched(request)) {
				run.resultHandled();
			}
			else {
				recordCall(run, handler);
			}
			ModelAndView view = adapter.handle(request, response, handler);
			run.callReturned();
			if (view == null) {
				run.responseWritten(request);
			}
			return view;
		}
		catch (Exception ex) {
			run.callFailed(request, ex);
			throw ex;
		}
		catch (Error ex) {
			run.callFailed(request, new ServletException(ex));
			throw ex;
		}
	}

	private static void recordCall(HandlerRun run, Object handler) {
		if (handler instanceof HandlerMethod method) {
			boolean advised = HandlerEntryAdvisor.isAdvised(method.getBean(), method.getMethod());
			run.handlerCalled(method, advised,
					advised && HandlerEntryAdvisor.isWatched(method.getBean(), method.getMethod()));
		}
		else {
			run.handlerCalled();
		}
	}

	/**
	 * The view has been rendered, and the interceptors of the application are about to
	 * close what a commit needs.
	 */
	@Override
	public void afterCompletion(HttpServletRequest request, HttpServletResponse response, Object handler,
			@Nullable Exception failure) {
		HandlerRun run = HandlerRun.of(request);
		if (run != null && request.getDispatcherType() == DispatcherType.REQUEST) {
			run.handlingCompleted(request, failure);
		}
	}

	@Override
	public @Nullable ModelAndView resolveException(HttpServletRequest request, HttpServletResponse response,
			@Nullable Object handler, Exception ex) {
		HandlerRun run = HandlerRun.of(request);
		Passage passage = Passage.of(request);
		if (run != null && handler instanceof HandlerMethod method && run.isOf(method)) {
			run.callFailed(request, ex);
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

	/**
	 * Spring MVC then writes the result of asynchronous work instead of calling the
	 * handler.
	 */
	private static boolean isResultDispatched(HttpServletRequest request) {
		return WebAsyncUtils.getAsyncManager(request).hasConcurrentResult();
	}

}
