package dev.idempotent.idempotency.web.filters;

import java.io.IOException;
import java.util.List;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.core.annotation.Order;

/**
 * A filter that refuses the requests whose header {@code X-Closed} has its name.
 */
class Gate implements Filter {

	static final String CLOSED = "X-Closed";

	private final String name;

	Gate(String name) {
		this.name = name;
	}

	@Override
	public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		if (this.name.equals(((HttpServletRequest) request).getHeader(CLOSED))) {
			((HttpServletResponse) response).setStatus(HttpServletResponse.SC_FORBIDDEN);
			response.getWriter().write(this.name);
		}
		else {
			chain.doFilter(request, response);
		}
	}

	/**
	 * The gates of {@link FilteredApplication}.
	 */
	static List<String> names() {
		return List.of("plain", "ordered", "registered", "last-by-name", "of-a-servlet");
	}

	static class Plain extends Gate {

		Plain() {
			super("plain");
		}

	}

	@Order(10)
	static class Ordered extends Gate {

		Ordered() {
			super("ordered");
		}

	}

	static class LastByName extends Gate {

		LastByName() {
			super("last-by-name");
		}

	}

}
