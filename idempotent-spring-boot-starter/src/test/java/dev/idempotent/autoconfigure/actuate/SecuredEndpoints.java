package dev.idempotent.autoconfigure.actuate;

import java.nio.charset.StandardCharsets;
import java.util.Base64;

import dev.idempotent.testing.PlainPasswords;

import org.springframework.boot.security.autoconfigure.actuate.web.servlet.EndpointRequest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;

/**
 * Leaves the endpoints to the users {@code operator} and {@code support};
 * {@code customer} is another one.
 */
@Configuration(proxyBeanMethods = false)
@Import(PlainPasswords.class)
class SecuredEndpoints {

	/**
	 * The header {@code Authorization} of a user.
	 */
	static String basic(String user) {
		return "Basic " + Base64.getEncoder().encodeToString((user + ":x").getBytes(StandardCharsets.UTF_8));
	}

	@Bean
	SecurityFilterChain operators(HttpSecurity http) {
		return http.securityMatcher(EndpointRequest.toAnyEndpoint())
			.authorizeHttpRequests((requests) -> requests.anyRequest().hasAnyRole("OPERATOR", "SUPPORT"))
			.csrf((csrf) -> csrf.disable())
			.httpBasic(Customizer.withDefaults())
			.build();
	}

	@Bean
	InMemoryUserDetailsManager users() {
		return new InMemoryUserDetailsManager(User.withUsername("operator").password("x").roles("OPERATOR").build(),
				User.withUsername("support").password("x").roles("SUPPORT").build(),
				User.withUsername("customer").password("x").roles("CUSTOMER").build());
	}

}
