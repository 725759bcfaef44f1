package dev.idempotent.token;

import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

import dev.idempotent.testing.PlainPasswords;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpMethod;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tokens of callers that Spring Security has authenticated, and of others.
 */
class SecuredTokensIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication application = RunningApplication.of(() -> WebApplication.start(Application.class,
			redis, WebApplication.WITH_SECURITY, "idempotent.token.secrets=k1:" + "A".repeat(43) + "="))
		.resetting(OrderForms.class, OrderForms::reset);

	@Test
	void areForTheCallerThatTheyWereIssuedTo() {
		String token = issue("ada");
		assertThat(submit(token, "bob").statusCode()).isEqualTo(403);
		assertThat(text(submit(token, "bob"))).contains("token-refused");
		HttpResponse<byte[]> first = submit(token, "ada");
		assertThat(first.statusCode()).isEqualTo(302);
		assertThat(text(submit(token, "bob"))).contains("token-refused");
		assertThat(submit(token, "ada").headers().firstValue("Idempotent-Replayed")).hasValue("true");
		assertThat(application.bean(OrderForms.class).runs()).isOne();
	}

	@Test
	void stayUsableAfterALogin() {
		assertThat(submit(issue(null), "ada").statusCode()).isEqualTo(302);
	}

	private static String issue(@Nullable String user) {
		var request = application.request("/orders/new");
		return text(
				application.send(((user != null) ? request.header("Authorization", basic(user)) : request).build()));
	}

	private static HttpResponse<byte[]> submit(String token, String user) {
		return application.post("/orders?item=book", "{}", "Idempotency-Key", token, "Authorization", basic(user));
	}

	private static String basic(String user) {
		return "Basic " + Base64.getEncoder().encodeToString((user + ":secret").getBytes(StandardCharsets.US_ASCII));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ OrderForms.class, PlainPasswords.class })
	static class Application {

		@Bean
		SecurityFilterChain securityFilterChain(HttpSecurity http) {
			return http.csrf((csrf) -> csrf.disable())
				.authorizeHttpRequests(
						(requests) -> requests.requestMatchers(HttpMethod.GET).permitAll().anyRequest().authenticated())
				.httpBasic(Customizer.withDefaults())
				.build();
		}

		@Bean
		InMemoryUserDetailsManager users() {
			return new InMemoryUserDetailsManager(User.withUsername("ada").password("secret").roles("USER").build(),
					User.withUsername("bob").password("secret").roles("USER").build());
		}

	}

}
