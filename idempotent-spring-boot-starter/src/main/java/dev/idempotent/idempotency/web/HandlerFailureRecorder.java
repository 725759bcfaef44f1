package dev.idempotent.idempotency.web;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;

/**
 * Notes that handling a request has ended in an exception, before the application turns
 * it into an answer. Resolves nothing.
 */
public final class HandlerFailureRecorder implements HandlerExceptionResolver, PriorityOrdered {

	@Override
	public int getOrder() {
		return Ordered.HIGHEST_PRECEDENCE;
	}

	@Override
	public @Nullable ModelAndView resolveException(HttpServletRequest request, HttpServletResponse response,
			@Nullable Object handler, Exception ex) {
		HandlerRun run = HandlerRun.of(request);
		if (run != null) {
			run.handlingFailed(ex);
		}
		return null;
	}

}
