package dev.idempotent.idempotency.web.context;

import java.util.EnumSet;

import jakarta.servlet.DispatcherType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@EnableAsync
@Import({ DispatchedHandlers.class, HandingOverHandlers.class, AsyncNotes.class })
class ContextApplication implements WebMvcConfigurer {

	private final Sightings sightings = new Sightings();

	@Override
	public void addInterceptors(InterceptorRegistry registry) {
		registry.addInterceptor(this.sightings);
	}

	@Bean
	Sightings sightings() {
		return this.sightings;
	}

	/**
	 * The outermost filter, in all dispatches.
	 */
	@Bean
	FilterRegistrationBean<Sightings> sightingsRegistration() {
		FilterRegistrationBean<Sightings> registration = new FilterRegistrationBean<>(this.sightings);
		registration.setOrder(Ordered.HIGHEST_PRECEDENCE);
		registration.setDispatcherTypes(EnumSet.allOf(DispatcherType.class));
		return registration;
	}

}
