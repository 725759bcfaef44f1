package dev.idempotent.sample.form;

import java.io.IOException;
import java.util.Map;
import java.util.Objects;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.boot.web.servlet.FilterRegistration;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.servlet.View;
import org.springframework.web.util.ContentCachingResponseWrapper;
import org.thymeleaf.spring6.view.ThymeleafViewResolver;
import tools.jackson.databind.json.JsonMapper;

/**
 * Shows a browser the problems of forms as a page, with the same status. It runs before
 * the idempotency filter, whose refusals are JSON.
 */
@Component
@FilterRegistration(urlPatterns = "/forms/*")
class ProblemPageFilter extends OncePerRequestFilter {

	private final ThymeleafViewResolver views;

	private final JsonMapper json;

	ProblemPageFilter(ThymeleafViewResolver views, JsonMapper json) {
		this.views = views;
		this.json = json;
	}

	@Override
	protected boolean shouldNotFilter(HttpServletRequest request) {
		String accepted = request.getHeader(HttpHeaders.ACCEPT);
		return accepted == null || !accepted.contains(MediaType.TEXT_HTML_VALUE);
	}

	@Override
	protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		ContentCachingResponseWrapper buffered = new ContentCachingResponseWrapper(response);
		chain.doFilter(request, buffered);
		if (MediaType.APPLICATION_PROBLEM_JSON_VALUE.equals(buffered.getContentType())) {
			ProblemDetail problem = this.json.readValue(buffered.getContentAsByteArray(), ProblemDetail.class);
			buffered.resetBuffer();
			render(problem, request, buffered);
		}
		buffered.copyBodyToResponse();
	}

	private void render(ProblemDetail problem, HttpServletRequest request, HttpServletResponse response)
			throws ServletException {
		try {
			View page = Objects.requireNonNull(this.views.resolveViewName("problem", request.getLocale()));
			page.render(Map.of("problem", problem), request, response);
		}
		catch (Exception ex) {
			throw new ServletException("The page of a problem cannot be rendered", ex);
		}
	}

}
