package dev.idempotent.idempotency.web.context;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import dev.idempotent.idempotency.IdempotencyContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;
import org.springframework.web.servlet.AsyncHandlerInterceptor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Records the context in each dispatch of a request, and what remains on the thread.
 */
class Sightings extends HttpFilter implements AsyncHandlerInterceptor {

	private volatile Map<String, Sighting> seen = new ConcurrentHashMap<>();

	private volatile @Nullable IdempotencyContext outer;

	void forget() {
		this.seen = new ConcurrentHashMap<>();
		this.outer = null;
	}

	/**
	 * Starts all dispatches with another context.
	 */
	void beginWith(IdempotencyContext context) {
		this.outer = context;
	}

	void note(String place) {
		this.seen.put(place, Sighting.here());
	}

	Sighting at(String place) {
		return await().until(() -> this.seen.get(place), (sighting) -> sighting != null);
	}

	Sighting in(DispatcherType dispatch) {
		return at(dispatch.name());
	}

	Sighting after(DispatcherType dispatch) {
		return at("after " + dispatch);
	}

	@Override
	public void afterCompletion(HttpServletRequest request, HttpServletResponse response, Object handler,
			@Nullable Exception ex) {
		note(request.getDispatcherType().name());
	}

	@Override
	public void afterConcurrentHandlingStarted(HttpServletRequest request, HttpServletResponse response,
			Object handler) {
		note(request.getDispatcherType().name());
	}

	@Override
	protected void doFilter(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		// Recorded with this request, although the next one may have started.
		Map<String, Sighting> begun = this.seen;
		IdempotencyContext other = this.outer;
		if (other != null) {
			IdempotencyContext.bind(other);
		}
		try {
			chain.doFilter(request, response);
		}
		finally {
			begun.put("after " + request.getDispatcherType(), Sighting.here());
			if (other != null) {
				IdempotencyContext.bind(null);
			}
		}
	}

	/**
	 * The context bound to a thread.
	 */
	record Sighting(Thread thread, @Nullable IdempotencyContext context, @Nullable String logged) {

		static Sighting here() {
			return new Sighting(Thread.currentThread(), IdempotencyContext.current(), MDC.get("idempotency"));
		}

		boolean isClean() {
			return this.context == null && this.logged == null;
		}

		/**
		 * The context, which the log names as well.
		 */
		IdempotencyContext bound() {
			if (this.context == null) {
				throw new AssertionError("No context is bound to " + this.thread);
			}
			assertThat(this.logged).isEqualTo(this.context.key().digest());
			return this.context;
		}

	}

}
