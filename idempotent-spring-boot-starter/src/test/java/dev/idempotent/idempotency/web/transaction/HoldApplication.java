package dev.idempotent.idempotency.web.transaction;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.web.IdempotencyScopeResolver;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * A participant: an action and its cancel, called by one service.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import({ HoldController.class, Works.class })
class HoldApplication {

	private static final String CALLER = "shop";

	@Bean
	IdempotencyScopeResolver oneCaller() {
		return (request) -> CALLER;
	}

	/**
	 * The stored form of a key of that caller.
	 */
	static IdempotencyKey keyOf(String key) {
		return IdempotencyKey.of(IdempotencyKey.Kind.HEADER, "test", CALLER, "", key);
	}

}
