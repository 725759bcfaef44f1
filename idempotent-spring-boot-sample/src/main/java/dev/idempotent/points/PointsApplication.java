package dev.idempotent.points;

import dev.idempotent.idempotency.web.IdempotencyScopeResolver;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/**
 * The points service. The shop starts it in its own JVM, on another port.
 */
@SpringBootApplication
public class PointsApplication {

	/**
	 * The shop is the only caller: an action and its cancellation must have one scope.
	 */
	@Bean
	IdempotencyScopeResolver scopeResolver() {
		return (request) -> "shop";
	}

}
