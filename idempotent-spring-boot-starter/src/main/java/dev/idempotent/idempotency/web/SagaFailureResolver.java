package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.io.UncheckedIOException;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;

/**
 * Sends the problem details of a saga that was undone or halted. Exception handlers of
 * the application take precedence.
 */
final class SagaFailureResolver implements HandlerExceptionResolver, Ordered {

	private final Class<? extends Exception> undone;

	private final Class<? extends Exception> halted;

	SagaFailureResolver(Class<? extends Exception> undone, Class<? extends Exception> halted) {
		this.undone = undone;
		this.halted = halted;
	}

	@Override
	public int getOrder() {
		return Ordered.LOWEST_PRECEDENCE;
	}

	@Override
	public @Nullable ModelAndView resolveException(HttpServletRequest request, HttpServletResponse response,
			@Nullable Object handler, Exception ex) {
		try {
			if (this.undone.isInstance(ex)) {
				Problem.SAGA_COMPENSATED.send(response,
						"The work of this request could not be completed, and was undone. Send a new request to try "
								+ "again.");
				return new ModelAndView();
			}
			if (this.halted.isInstance(ex)) {
				Problem.SAGA_HALTED.send(response,
						"The work of this request has stopped, and an operator must decide. Do not send it in a new "
								+ "request.");
				return new ModelAndView();
			}
			return null;
		}
		catch (IOException failure) {
			throw new UncheckedIOException(failure);
		}
	}

}
