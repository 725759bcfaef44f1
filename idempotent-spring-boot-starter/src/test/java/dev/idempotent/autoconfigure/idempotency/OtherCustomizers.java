package dev.idempotent.autoconfigure.idempotency;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.restclient.RestClientCustomizer;
import org.springframework.boot.restclient.RestTemplateCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.client.ClientHttpRequestInterceptor;

/**
 * An application that has an interceptor of its own put first.
 */
@Configuration(proxyBeanMethods = false)
class OtherCustomizers {

	static final ClientHttpRequestInterceptor INTERCEPTOR = (request, body, execution) -> execution.execute(request,
			body);

	@Bean
	RestClientCustomizer first() {
		return (builder) -> builder.requestInterceptors((interceptors) -> interceptors.add(0, INTERCEPTOR));
	}

	/**
	 * Adds its interceptor first, too, and as late as it can.
	 */
	@AutoConfiguration
	static class AutoConfigured {

		@Bean
		@Order(Ordered.LOWEST_PRECEDENCE)
		RestClientCustomizer last() {
			return (builder) -> builder.requestInterceptors((interceptors) -> interceptors.add(0, INTERCEPTOR));
		}

		@Bean
		@Order(Ordered.LOWEST_PRECEDENCE)
		RestTemplateCustomizer lastOfTemplates() {
			return (restTemplate) -> restTemplate.getInterceptors().add(0, INTERCEPTOR);
		}

	}

}
