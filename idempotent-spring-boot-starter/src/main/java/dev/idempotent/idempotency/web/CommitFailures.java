package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.util.function.Supplier;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.ModelAndView;

/**
 * Lets the application answer what a commit has brought to light, such as a constraint
 * that a flush violates, as if its handler had thrown it.
 */
final class CommitFailures {

	private final Supplier<HandlerExceptionResolver> resolver;

	CommitFailures(Supplier<HandlerExceptionResolver> resolver) {
		this.resolver = resolver;
	}

	/**
	 * Writes the application's answer.
	 * @return what it has answered
	 * @throws IOException if the failure is one, or the answer cannot be written
	 * @throws ServletException the failure, if the application has no answer to it
	 */
	Exception resolve(HttpServletRequest request, HttpServletResponse response, @Nullable Throwable failure)
			throws IOException, ServletException {
		request.removeAttribute(HandlerMapping.PRODUCIBLE_MEDIA_TYPES_ATTRIBUTE);
		Object handler = resolved(request.getAttribute(HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE));
		Exception exception = (failure instanceof Exception ex) ? ex
				: new ServletException("Committing the work of a handler has failed", failure);
		ModelAndView answer = this.resolver.get().resolveException(request, response, handler, exception);
		if (answer != null && answer.isEmpty()) {
			return exception;
		}
		if (exception instanceof RuntimeException unresolved) {
			throw unresolved;
		}
		throw (exception instanceof ServletException unresolved) ? unresolved
				: new ServletException("Committing the work of a handler has failed", exception);
	}

	/**
	 * The handler of a mapping knows its bean by name only, on which no exception handler
	 * of the controller could be called.
	 */
	private static @Nullable Object resolved(@Nullable Object handler) {
		return (handler instanceof HandlerMethod method) ? method.createWithResolvedBean() : handler;
	}

}
