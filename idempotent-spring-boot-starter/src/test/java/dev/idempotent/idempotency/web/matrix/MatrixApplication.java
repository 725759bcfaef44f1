package dev.idempotent.idempotency.web.matrix;

import java.util.Map;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.error.ErrorAttributeOptions;
import org.springframework.boot.webmvc.error.DefaultErrorAttributes;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.context.request.WebRequest;

@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import({ ValueHandlers.class, RedirectHandlers.class, ServletHandlers.class, FailingHandlers.class,
		FailingHandlers.Advice.class, AsyncHandlers.class, AsyncServletHandlers.class, StreamingHandlers.class })
class MatrixApplication {

	@Bean
	Runs runs() {
		return new Runs();
	}

	@Bean
	DefaultErrorAttributes timelessErrorAttributes() {
		return new DefaultErrorAttributes() {
			@Override
			public Map<String, Object> getErrorAttributes(WebRequest request, ErrorAttributeOptions options) {
				Map<String, Object> attributes = super.getErrorAttributes(request, options);
				attributes.remove("timestamp");
				return attributes;
			}
		};
	}

}
