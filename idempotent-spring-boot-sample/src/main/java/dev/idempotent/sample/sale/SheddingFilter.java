package dev.idempotent.sample.sale;

import java.io.IOException;
import java.time.Duration;

import io.github.bucket4j.Bucket;
import io.github.bucket4j.ConsumptionProbe;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.boot.web.servlet.FilterRegistration;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;
import tools.jackson.databind.json.JsonMapper;

/**
 * Refuses requests for a unit beyond what this instance can serve. It runs before the
 * idempotency filter, so a refused request claims no key. Orders, cancellations and views
 * pass: those who hold a unit are few and must not wait behind the crowd.
 */
@Component
@FilterRegistration(urlPatterns = "/api/flash-sales/*")
class SheddingFilter extends OncePerRequestFilter {

	private final Bucket bucket;

	private final byte[] problem;

	SheddingFilter(Bucket bucket, JsonMapper json) {
		this.bucket = bucket;
		this.problem = json.writeValueAsBytes(Refusal.TOO_MANY_REQUESTS.problem());
	}

	@Override
	protected boolean shouldNotFilter(HttpServletRequest request) {
		return !HttpMethod.POST.matches(request.getMethod());
	}

	@Override
	protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		ConsumptionProbe probe = this.bucket.tryConsumeAndReturnRemaining(1);
		if (probe.isConsumed()) {
			chain.doFilter(request, response);
			return;
		}
		long seconds = Duration.ofNanos(probe.getNanosToWaitForRefill()).toSeconds() + 1;
		response.setStatus(Refusal.TOO_MANY_REQUESTS.status().value());
		response.setHeader(HttpHeaders.RETRY_AFTER, Long.toString(seconds));
		response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
		response.setContentLength(this.problem.length);
		response.getOutputStream().write(this.problem);
	}

}
