package dev.idempotent.autoconfigure.idempotency;

import dev.idempotent.idempotency.openapi.IdempotencyOpenApiCustomizer;
import dev.idempotent.idempotency.web.IdempotencyWebSettings;
import dev.idempotent.idempotency.web.IdempotentOperations;
import io.swagger.v3.oas.models.OpenAPI;
import org.springdoc.core.customizers.GlobalOpenApiCustomizer;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Describes idempotent operations in the OpenAPI documents of springdoc.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ GlobalOpenApiCustomizer.class, OpenAPI.class })
@ConditionalOnBooleanProperty(name = "springdoc.api-docs.enabled", matchIfMissing = true)
class OpenApiConfiguration {

	@Bean
	IdempotencyOpenApiCustomizer idempotencyOpenApiCustomizer(IdempotentOperations operations,
			IdempotencyWebSettings settings) {
		return new IdempotencyOpenApiCustomizer(operations, settings);
	}

}
