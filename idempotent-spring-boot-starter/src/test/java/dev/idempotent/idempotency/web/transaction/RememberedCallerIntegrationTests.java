package dev.idempotent.idempotency.web.transaction;

import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.util.UUID;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A caller whose session was lost between two attempts, and who is authenticated in
 * another way at the second one.
 */
class RememberedCallerIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	private final String key = UUID.randomUUID().toString();

	@Test
	void placesOneOrder() {
		try (WebApplication application = WebApplication.start(Application.class, redis, WebApplication.WITH_DATABASE,
				WebApplication.WITH_SECURITY, "spring.datasource.url=jdbc:h2:mem:remembered",
				"spring.datasource.username=sa", "spring.datasource.password=")) {
			HttpResponse<byte[]> login = application.send(application.request("/login")
				.header("Content-Type", "application/x-www-form-urlencoded")
				.POST(BodyPublishers.ofString("username=ada&password=secret&remember-me=on"))
				.build());
			HttpResponse<byte[]> first = order(application, cookie(login, "JSESSIONID"));
			HttpResponse<byte[]> retry = order(application, cookie(login, "remember-me"));
			assertThat(text(first)).isEqualTo("UsernamePasswordAuthenticationToken 1");
			assertThat(text(retry)).isEqualTo(text(first));
			assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");
			assertThat(application.bean(Orders.class).count()).isOne();
			String other = text(application.post("/orders", "{}", "Idempotency-Key", "other-" + this.key, "Cookie",
					cookie(login, "remember-me")));
			assertThat(other).isEqualTo("RememberMeAuthenticationToken 2");
		}
	}

	private HttpResponse<byte[]> order(WebApplication application, String cookie) {
		return application.post("/orders", "{}", "Idempotency-Key", this.key, "Cookie", cookie);
	}

	private static String cookie(HttpResponse<byte[]> response, String name) {
		return response.headers()
			.allValues("Set-Cookie")
			.stream()
			.filter((cookie) -> cookie.startsWith(name + "="))
			.map((cookie) -> cookie.substring(0, cookie.indexOf(';')))
			.findFirst()
			.orElseThrow();
	}

	@RestController
	static class Orders {

		private final JdbcTemplate jdbc;

		Orders(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
			jdbc.execute("create table orders (id int auto_increment primary key)");
		}

		@PostMapping("/orders")
		@Idempotent(guarantee = Guarantee.TRANSACTION)
		String place(Authentication authentication) {
			this.jdbc.update("insert into orders values (default)");
			return authentication.getClass().getSimpleName() + " " + count();
		}

		int count() {
			return this.jdbc.queryForList("select id from orders").size();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Orders.class)
	static class Application {

		@Bean
		SecurityFilterChain securityFilterChain(HttpSecurity http) {
			return http.csrf((csrf) -> csrf.disable())
				.authorizeHttpRequests((requests) -> requests.anyRequest().authenticated())
				.formLogin(Customizer.withDefaults())
				.rememberMe((rememberMe) -> rememberMe.key("key"))
				.build();
		}

		@Bean
		InMemoryUserDetailsManager users() {
			return new InMemoryUserDetailsManager(
					User.withUsername("ada").password("{noop}secret").roles("USER").build());
		}

	}

}
