package dev.idempotent.autoconfigure.test;

import jakarta.servlet.Filter;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;

/**
 * Auto-configuration for errors that handlers send in tests with MockMvc.
 */
@AutoConfiguration
@ConditionalOnBooleanProperty(name = "idempotent.enabled", matchIfMissing = true)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
final class MockMvcErrorAutoConfiguration {

	@Bean
	FilterRegistrationBean<Filter> idempotencyMockMvcErrorFilterRegistration() {
		FilterRegistrationBean<Filter> registration = new FilterRegistrationBean<>(new MockMvcErrorFilter());
		registration.setOrder(Ordered.HIGHEST_PRECEDENCE + 1);
		return registration;
	}

}
