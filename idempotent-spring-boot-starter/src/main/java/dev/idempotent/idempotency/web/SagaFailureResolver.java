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

	private final ProblemTypes problems;

	SagaFailureResolver(Class<? extends Exception> undone, Class<? extends Exception> halted, ProblemTypes problems) {
		this.undone = undone;
		this.halted = halted;
		this.problems = problems;
	}

	@Override
	public int getOrder() {
		return Ordered.LOWEST_PRECEDENCE;
	}

	@Override
	public @Nullable ModelAndView resolveException(HttpServletRequest request, HttpServletResponse response,
			@Nullable Object handler, Exception ex) {
		ProblemResponse problem = problemOf(ex);
		if (problem == null) {
			return null;
		}
		try {
			problem.send(response);
			return new ModelAndView();
		}
		catch (IOException failure) {
			throw new UncheckedIOException(failure);
		}
	}

	private @Nullable ProblemResponse problemOf(Exception ex) {
		if (this.undone.isInstance(ex)) {
			return this.problems.respond(Problem.SAGA_COMPENSATED,
					"The work of this request could not be completed, and was undone. Send a new request to try again.");
		}
		if (this.halted.isInstance(ex)) {
			return this.problems.respond(Problem.SAGA_HALTED,
					"The work of this request has stopped, and an operator must decide. Do not send it in a new "
							+ "request.");
		}
		return null;
	}

}
