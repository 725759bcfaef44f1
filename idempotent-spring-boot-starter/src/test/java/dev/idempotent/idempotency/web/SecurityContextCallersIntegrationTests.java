package dev.idempotent.idempotency.web;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.authentication.UsernamePasswordAuthenticationFilter;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Callers that are in the security context only: the request has no principal.
 */
class SecurityContextCallersIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@Test
	void haveSeparateKeysWithoutTheFiltersOfSpringSecurity() {
		try (WebApplication application = WebApplication.start(OwnFilter.class, redis)) {
			assertThatCallersHaveSeparateKeys(application);
		}
	}

	@Test
	void haveSeparateKeysWithoutServletApiSupport() {
		try (WebApplication application = WebApplication.start(WithoutServletApi.class, redis,
				WebApplication.WITH_SECURITY)) {
			assertThatCallersHaveSeparateKeys(application);
		}
	}

	private static void assertThatCallersHaveSeparateKeys(WebApplication application) {
		String key = UUID.randomUUID().toString();
		assertThat(text(post(application, key, "alice"))).isEqualTo("run 1");
		assertThat(text(post(application, key, "bob"))).isEqualTo("run 2");
		HttpResponse<byte[]> retry = post(application, key, "alice");
		assertThat(text(retry)).isEqualTo("run 1");
		assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");
	}

	private static HttpResponse<byte[]> post(WebApplication application, String key, String caller) {
		return application.post("/basket", "{}", "Idempotency-Key", key, "X-API-Key", caller);
	}

	private static Filter apiKeys() {
		return (request, response, chain) -> {
			String caller = ((HttpServletRequest) request).getHeader("X-API-Key");
			SecurityContextHolder.getContext()
				.setAuthentication(UsernamePasswordAuthenticationToken.authenticated(caller, null, List.of()));
			try {
				chain.doFilter(request, response);
			}
			finally {
				SecurityContextHolder.clearContext();
			}
		};
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Basket.class)
	static class OwnFilter {

		@Bean
		FilterRegistrationBean<Filter> apiKeyFilter() {
			return new FilterRegistrationBean<>(apiKeys());
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Basket.class)
	static class WithoutServletApi {

		@Bean
		SecurityFilterChain securityFilterChain(HttpSecurity http) {
			return http.csrf((csrf) -> csrf.disable())
				.servletApi((servletApi) -> servletApi.disable())
				.authorizeHttpRequests((requests) -> requests.anyRequest().authenticated())
				.addFilterBefore(apiKeys(), UsernamePasswordAuthenticationFilter.class)
				.build();
		}

	}

	@RestController
	static class Basket {

		private final AtomicInteger runs = new AtomicInteger();

		@PostMapping("/basket")
		@Idempotent
		String put() {
			return "run " + this.runs.incrementAndGet();
		}

	}

}
