package dev.idempotent.idempotency.web;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.HandlerExecutionChain;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.HandlerMapping;

/**
 * The first handler mapping of each dispatcher servlet, which asks the others. Tells the
 * {@link IdempotencyFilter} which mapping has found the handler, and adds the last
 * interceptor to the chain of that mapping: when a view has been rendered, the last
 * interceptor is called before the interceptors of the application.
 */
public final class IdempotentHandlerMapping implements HandlerMapping, PriorityOrdered {

	/**
	 * The interceptors of the application are about to close what a commit needs.
	 */
	private static final HandlerInterceptor LAST = new HandlerInterceptor() {

		@Override
		public void afterCompletion(HttpServletRequest request, HttpServletResponse response, Object handler,
				@Nullable Exception failure) {
			HandlerRun run = HandlerRun.of(request);
			if (run != null) {
				run.handlingCompleted(request, failure);
			}
		}

	};

	private final Map<WebApplicationContext, List<HandlerMapping>> mappings = new ConcurrentHashMap<>();

	@Override
	public int getOrder() {
		return Ordered.HIGHEST_PRECEDENCE;
	}

	/**
	 * Finds the handler of a request that may have to claim a key. Leaves others to the
	 * other mappings.
	 */
	@Override
	public @Nullable HandlerExecutionChain getHandler(HttpServletRequest request) throws Exception {
		Passage passage = Passage.of(request);
		if (passage == null || !passage.isWaiting() || request.getDispatcherType() == DispatcherType.INCLUDE) {
			return null;
		}
		for (HandlerMapping mapping : mappingsFor(request)) {
			HandlerExecutionChain found = mapping.getHandler(request);
			if (found != null) {
				if (!passage.found(found.getHandler(), mapping)) {
					return found;
				}
				// A mapping may return the same chain for each request.
				HandlerExecutionChain chain = new HandlerExecutionChain(found.getHandler(), found.getInterceptorList());
				chain.addInterceptor(LAST);
				return chain;
			}
		}
		return null;
	}

	private List<HandlerMapping> mappingsFor(HttpServletRequest request) {
		return this.mappings.computeIfAbsent(
				(WebApplicationContext) Objects
					.requireNonNull(request.getAttribute(DispatcherServlet.WEB_APPLICATION_CONTEXT_ATTRIBUTE)),
				this::mappingsOf);
	}

	/**
	 * As the dispatcher servlet finds them.
	 */
	private List<HandlerMapping> mappingsOf(WebApplicationContext context) {
		List<HandlerMapping> found = new ArrayList<>(
				BeanFactoryUtils.beansOfTypeIncludingAncestors(context, HandlerMapping.class, true, false).values());
		found.removeIf(IdempotentHandlerMapping.class::isInstance);
		AnnotationAwareOrderComparator.sort(found);
		return found;
	}

}
