package dev.idempotent.token;

import java.security.Principal;
import java.time.Duration;
import java.util.List;

import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * Forms with one-time tokens, by a clock that tests move. The header {@code X-User}
 * identifies the caller.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import(OrderForms.class)
class TokenApplication {

	static final Duration VALIDITY = Duration.ofHours(2);

	@Bean
	MovableClock movableClock() {
		return new MovableClock();
	}

	@Bean
	OneTimeTokens tokens(MovableClock clock) {
		return tokens("test", clock);
	}

	static OneTimeTokens tokens(String namespace, MovableClock clock) {
		return new OneTimeTokens(namespace, List.of(new TokenSecret("k1", new byte[32])), VALIDITY, Principal::getName,
				clock);
	}

	@Bean
	Filter callers() {
		return (request, response, chain) -> chain.doFilter(new WithCaller((HttpServletRequest) request), response);
	}

	private static final class WithCaller extends HttpServletRequestWrapper {

		WithCaller(HttpServletRequest request) {
			super(request);
		}

		@Override
		public @Nullable Principal getUserPrincipal() {
			String user = getHeader("X-User");
			return (user != null) ? () -> user : null;
		}

	}

}
