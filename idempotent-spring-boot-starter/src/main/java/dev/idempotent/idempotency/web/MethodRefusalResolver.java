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

	@Override
	public int getOrder() {
		return Ordered.LOWEST_PRECEDENCE;
	}

	@Override
	public @Nullable ModelAndView resolveException(HttpServletRequest request, HttpServletResponse response,
			@Nullable Object handler, Exception ex) {
		try {
			return answer(response, ex) ? new ModelAndView() : null;
		}
		catch (IOException failure) {
			throw new UncheckedIOException(failure);
		}
	}

	private static boolean answer(HttpServletResponse response, Exception ex) throws IOException {
		if (ex instanceof IdempotencyPendingException) {
			Problem.IN_PROGRESS.sendRetryable(response,
					"A part of this request is already running. Send it again in a moment.");
		}
		else if (ex instanceof IdempotencyMismatchException) {
			Problem.KEY_REUSED.send(response,
					"A part of this request was processed before with different data. Send the same data as before, "
							+ "or a new request.");
		}
		else if (ex instanceof IdempotencyResultException) {
			Problem.RESPONSE_NOT_KEPT.send(response,
					"A part of this request was processed before, but its result could not be stored.");
		}
		else if (ex instanceof IdempotencyStoreUnavailableException) {
			Problem.STORE_UNREACHABLE.sendRetryable(response, "Send the request again.");
		}
		else {
			return false;
		}
		return true;
	}

}
