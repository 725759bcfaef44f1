package dev.idempotent.idempotency.web;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;

/**
 * Records that handling a request has failed, before the application resolves the
 * exception. Resolves none itself.
 */
final class HandlerFailureRecorder implements HandlerExceptionResolver, PriorityOrdered {

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
