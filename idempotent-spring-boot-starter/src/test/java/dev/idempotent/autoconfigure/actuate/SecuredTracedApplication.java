package dev.idempotent.autoconfigure.actuate;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;

/**
 * A {@link TracedApplication} with Spring Security, which has observations of its own.
 */
@Configuration(proxyBeanMethods = false)
@Import(TracedApplication.class)
class SecuredTracedApplication {

	@Bean
	SecurityFilterChain openToAll(HttpSecurity http) throws Exception {
		return http.csrf((csrf) -> csrf.disable())
			.authorizeHttpRequests((requests) -> requests.anyRequest().permitAll())
			.build();
	}

}
