package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.io.UncheckedIOException;

import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.IdempotencyResultException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;

/**
 * Sends the problem details of an annotated method of another bean that was refused, as
 * the filter does for a refused request. Exception handlers of the application take
 * precedence.
 */
final class MethodRefusalResolver implements HandlerExceptionResolver, Ordered {

	private final ProblemTypes problems;

	MethodRefusalResolver(ProblemTypes problems) {
		this.problems = problems;
	}

	@Override
	public int getOrder() {
		return Ordered.LOWEST_PRECEDENCE;
	}

	@Override
	public @Nullable ModelAndView resolveException(HttpServletRequest request, HttpServletResponse response,
			@Nullable Object handler, Exception ex) {
		ProblemResponse problem = problemOf(ex, HandlerRun.of(request));
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

	private @Nullable ProblemResponse problemOf(Exception ex, @Nullable HandlerRun run) {
		if (ex instanceof IdempotencyPendingException) {
			return respond(Problem.IN_PROGRESS, "A part of this request is already running. Send it again in a moment.",
					run);
		}
		if (ex instanceof IdempotencyMismatchException) {
			return respond(Problem.KEY_REUSED,
					"A part of this request was processed before with different data. Send the same data as before, "
							+ "or a new request.",
					run);
		}
		if (ex instanceof IdempotencyResultException) {
			return respond(Problem.RESPONSE_NOT_KEPT,
					"A part of this request was processed before, but its result could not be stored.", run);
		}
		if (ex instanceof IdempotencyStoreUnavailableException) {
			return respond(Problem.STORE_UNREACHABLE, "Send the request again.", run);
		}
		return null;
	}

	/**
	 * A response that is stored is final: a retry gets the same one.
	 */
	private ProblemResponse respond(Problem problem, String detail, @Nullable HandlerRun run) {
		boolean stored = run != null && run.isStored(problem.status().value());
		return this.problems.respond(problem, detail, problem.isRetryable() && !stored);
	}

}
