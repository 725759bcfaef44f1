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
 * Lets the exception handlers of the application resolve the failure of a commit, such as
 * a violated constraint, as if the handler had thrown it.
 */
final class CommitFailureResolver {

	private final Supplier<HandlerExceptionResolver> resolver;

	CommitFailureResolver(Supplier<HandlerExceptionResolver> resolver) {
		this.resolver = resolver;
	}

	/**
	 * Writes the application's response to the failure.
	 * @return the exception that was resolved
	 * @throws IOException if the response cannot be written
	 * @throws ServletException if no exception handler of the application resolves the
	 * failure
	 */
	Exception resolve(HttpServletRequest request, HttpServletResponse response, @Nullable Throwable failure)
			throws IOException, ServletException {
		request.removeAttribute(HandlerMapping.PRODUCIBLE_MEDIA_TYPES_ATTRIBUTE);
		Object handler = withBean(request.getAttribute(HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE));
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
	 * The handler of a mapping may have a bean name instead of the bean, and exception
	 * handlers of the controller are called on the bean.
	 */
	private static @Nullable Object withBean(@Nullable Object handler) {
		return (handler instanceof HandlerMethod method) ? method.createWithResolvedBean() : handler;
	}

}
