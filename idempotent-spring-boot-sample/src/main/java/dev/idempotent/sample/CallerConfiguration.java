package dev.idempotent.sample;

import dev.idempotent.idempotency.tool.ToolCallerResolver;
import dev.idempotent.idempotency.web.IdempotencyScopeResolver;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * Configures the scope of the idempotency keys of this shop.
 */
@Configuration(proxyBeanMethods = false)
class CallerConfiguration {

	/**
	 * The shop has no login: the user is part of the body of a request, and so of its
	 * fingerprint. Equal feedback is accepted once for each user. An application with
	 * accounts uses Spring Security and needs no such bean.
	 */
	@Bean
	IdempotencyScopeResolver scopeResolver() {
		return (request) -> "shop";
	}

	/**
	 * The customer for whom an agent acts is not an argument of a tool, which a model
	 * would fill in. The header {@code X-Customer} stands for a login.
	 */
	@Bean
	ToolCallerResolver toolCallerResolver() {
		return () -> (RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes attributes)
				? attributes.getRequest().getHeader("X-Customer") : null;
	}

}
