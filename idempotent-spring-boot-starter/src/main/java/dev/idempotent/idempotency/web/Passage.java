package dev.idempotent.idempotency.web;

import java.io.IOException;

import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.web.servlet.HandlerMapping;

/**
 * A request on its way from the {@link IdempotencyFilter} to its handler.
 */
interface Passage {

	/**
	 * The attribute of a request that is on its way, or has reached a handler.
	 */
	String ATTRIBUTE = Passage.class.getName();

	/**
	 * Returns the passage of a request, or {@code null} if it has not passed the filter.
	 */
	static @Nullable Passage of(ServletRequest request) {
		return (Passage) request.getAttribute(ATTRIBUTE);
	}

	/**
	 * Returns whether the request has reached no handler yet.
	 */
	boolean isWaiting();

	/**
	 * Records which mapping has found the handler.
	 * @return whether a key may have to be claimed for it
	 */
	boolean found(Object handler, HandlerMapping mapping);

	/**
	 * Records that the request has reached a handler, and claims its key if the first
	 * handler needs one: a {@link HandlerRun} is open then.
	 * @param response the response that the handler gets
	 * @return whether to call the handler; otherwise the request is answered
	 */
	boolean reach(Object handler, ServletResponse response) throws IOException, ServletException;

	/**
	 * Records a failure before the handler was called.
	 */
	void failed(Exception failure);

}
