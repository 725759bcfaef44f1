package dev.idempotent.idempotency.web.matrix;

import java.util.concurrent.atomic.AtomicInteger;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ModelAttribute;

/**
 * Counts the requests that reach a handler, behind the claim of their keys.
 */
@ControllerAdvice
class Runs {

	private final AtomicInteger count = new AtomicInteger();

	int count() {
		return this.count.get();
	}

	void reset() {
		this.count.set(0);
	}

	@ModelAttribute
	void count(HttpServletRequest request) {
		if (request.getDispatcherType() == DispatcherType.REQUEST) {
			this.count.incrementAndGet();
		}
	}

}
