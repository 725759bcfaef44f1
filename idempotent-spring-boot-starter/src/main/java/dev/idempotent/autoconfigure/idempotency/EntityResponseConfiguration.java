package dev.idempotent.autoconfigure.idempotency;

import dev.idempotent.transaction.ObservedTransaction;
import dev.idempotent.transaction.PendingChanges;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.MethodParameter;
import org.springframework.http.MediaType;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.http.server.ServerHttpRequest;
import org.springframework.http.server.ServerHttpResponse;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyAdvice;

/**
 * Lets responses have what the database generates: the body of a handler under
 * {@code Guarantee.TRANSACTION} is written before its commit.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass(value = ResponseBodyAdvice.class,
		name = { "org.hibernate.engine.spi.SessionImplementor", "org.springframework.orm.jpa.EntityManagerHolder" })
class EntityResponseConfiguration {

	@Bean
	EntityResponses idempotentEntityResponses() {
		return new EntityResponses();
	}

	/**
	 * Flushes entities before they are written as the body of a response.
	 */
	@ControllerAdvice
	static final class EntityResponses implements ResponseBodyAdvice<Object> {

		@Override
		public boolean supports(MethodParameter returnType, Class<? extends HttpMessageConverter<?>> converterType) {
			return true;
		}

		@Override
		public @Nullable Object beforeBodyWrite(@Nullable Object body, MethodParameter returnType,
				MediaType selectedContentType, Class<? extends HttpMessageConverter<?>> selectedConverterType,
				ServerHttpRequest request, ServerHttpResponse response) {
			ObservedTransaction open = ObservedTransaction.bound();
			PendingChanges changes = (open != null && !open.isCommitting()) ? open.changes() : null;
			if (changes != null) {
				changes.flushFor(body);
			}
			return body;
		}

	}

}
