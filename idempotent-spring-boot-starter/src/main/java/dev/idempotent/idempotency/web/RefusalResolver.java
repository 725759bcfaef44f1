package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.function.Function;

import dev.idempotent.idempotency.web.Problem.RefusedRequestException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;

/**
 * Sends the problem details of work that was refused within a handler, as the filter does
 * for a refused request. Exception handlers of the application take precedence.
 */
final class RefusalResolver implements HandlerExceptionResolver, Ordered {

	private final Function<Exception, @Nullable RefusedRequestException> refusals;

	private final ProblemTypes problems;

	/**
	 * Creates a resolver.
	 * @param refusals returns the refusal that an exception means, or {@code null}
	 * @param problems the types of the problems
	 */
	RefusalResolver(Function<Exception, @Nullable RefusedRequestException> refusals, ProblemTypes problems) {
		this.refusals = refusals;
		this.problems = problems;
	}

	@Override
	public int getOrder() {
		return Ordered.LOWEST_PRECEDENCE;
	}

	@Override
	public @Nullable ModelAndView resolveException(HttpServletRequest request, HttpServletResponse response,
			@Nullable Object handler, Exception ex) {
		RefusedRequestException refusal = this.refusals.apply(ex);
		if (refusal == null) {
			return null;
		}
		Problem problem = refusal.problem();
		HandlerRun run = HandlerRun.of(request);
		// A response that is stored is final: a retry gets the same one.
		boolean retryable = problem.isRetryable() && (run == null || !run.isStored(problem.status()));
		try {
			this.problems.respond(problem, refusal.detail(), retryable, ProblemTypes.newInstance()).sendTo(response);
			return new ModelAndView();
		}
		catch (IOException failure) {
			throw new UncheckedIOException(failure);
		}
	}

}
