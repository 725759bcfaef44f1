package dev.idempotent.sample;

import dev.idempotent.idempotency.web.IdempotencyScopeResolver;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * States to which callers the idempotency keys of this shop belong.
 */
@Configuration(proxyBeanMethods = false)
class CallerConfiguration {

	/**
	 * The shop has no log-in: the user is named in the body of a request, and so is part
	 * of its fingerprint. Equal feedback of one user is taken once, that of two users
	 * twice. An application with accounts needs Spring Security and no such bean.
	 */
	@Bean
	IdempotencyScopeResolver scopeResolver() {
		return (request) -> "shop";
	}

}
