package dev.idempotent.idempotency.web.matrix;

import java.util.concurrent.atomic.AtomicInteger;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.web.servlet.HandlerInterceptor;

/**
 * Counts the requests that reach a handler.
 */
class Runs implements HandlerInterceptor {

	private final AtomicInteger count = new AtomicInteger();

	int count() {
		return this.count.get();
	}

	void reset() {
		this.count.set(0);
	}

	@Override
	public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
		if (request.getDispatcherType() == DispatcherType.REQUEST) {
			this.count.incrementAndGet();
		}
		return true;
	}

}
