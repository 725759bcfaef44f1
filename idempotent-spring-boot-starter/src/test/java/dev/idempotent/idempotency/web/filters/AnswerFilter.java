package dev.idempotent.idempotency.web.filters;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.web.util.ContentCachingResponseWrapper;

/**
 * Adds a header to responses and rewrites their bodies if the request asks for it.
 */
class AnswerFilter implements Filter {

	static final String LOUD = "X-Loud";

	static final String WRITTEN = "X-Written";

	@Override
	public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		if (((HttpServletRequest) request).getHeader(LOUD) == null) {
			chain.doFilter(request, response);
			return;
		}
		((HttpServletResponse) response).setHeader(WRITTEN, "loudly");
		ContentCachingResponseWrapper wrapper = new ContentCachingResponseWrapper((HttpServletResponse) response);
		chain.doFilter(request, wrapper);
		byte[] body = new String(wrapper.getContentAsByteArray(), StandardCharsets.UTF_8).toUpperCase(Locale.ROOT)
			.getBytes(StandardCharsets.UTF_8);
		wrapper.resetBuffer();
		wrapper.getOutputStream().write(body);
		wrapper.copyBodyToResponse();
	}

}
