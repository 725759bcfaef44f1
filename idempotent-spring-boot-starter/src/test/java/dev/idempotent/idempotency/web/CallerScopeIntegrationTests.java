package dev.idempotent.idempotency.web;

import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.util.Base64;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.DocumentedProblem;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.method.configuration.EnableMethodSecurity;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static dev.idempotent.testing.DocumentedProblem.assertProblem;
import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Callers with Spring Security, and without it.
 */
class CallerScopeIntegrationTests {

	private static final String KEY = "Idempotency-Key";

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication secured = RunningApplication
		.of(() -> WebApplication.start(SecuredApplication.class, redis, WebApplication.WITH_SECURITY));

	private final String key = UUID.randomUUID().toString();

	@Test
	void givesEachPrincipalKeysOfItsOwn() {
		String ofAda = text(post("/accounts", "ada"));
		String ofBob = text(post("/accounts", "bob"));
		assertThat(ofAda).startsWith("ada");
		assertThat(ofBob).startsWith("bob");
		assertThat(text(post("/accounts", "ada"))).isEqualTo(ofAda);
		assertThat(text(post("/accounts", "bob"))).isEqualTo(ofBob);
	}

	@Test
	void neverReplaysToACallerWhoIsNotAuthenticated() {
		post("/accounts", "ada");
		HttpResponse<byte[]> response = secured.post("/accounts", "", KEY, this.key);
		assertThat(response.statusCode()).isEqualTo(401);
		assertThat(response.body()).isEmpty();
	}

	@Test
	void replaysUnderTheSecurityHeadersOfTheRetry() {
		HttpResponse<byte[]> first = post("/accounts", "ada");
		HttpResponse<byte[]> retry = post("/accounts", "ada");
		for (String name : new String[] { "X-Content-Type-Options", "Cache-Control", "X-Frame-Options" }) {
			assertThat(retry.headers().allValues(name)).hasSize(1).isEqualTo(first.headers().allValues(name));
		}
	}

	@Test
	void releasesTheKeyWhenMethodSecurityDeniesAccess() {
		assertThat(post("/admin", "ada").statusCode()).isEqualTo(403);
		assertThat(text(post("/accounts", "ada"))).startsWith("ada");
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void refusesCredentialsThatNoFilterHasReadRatherThanTakeARefreshedTokenForAnotherCaller(CapturedOutput output) {
		try (WebApplication open = WebApplication.start(OperationsApplication.class, redis)) {
			HttpResponse<byte[]> refused = open.post("/answers/200", "", KEY, this.key, "Authorization", "Bearer one");
			assertProblem(refused, "caller-unknown");
			assertThat(text(refused)).contains("Contact the operator.").doesNotContain("IdempotencyScopeResolver");
			assertThat(output)
				.contains("A POST request was refused (" + DocumentedProblem.members(refused).get("instance") + ")",
						"IdempotencyScopeResolver")
				.doesNotContain("Bearer one");
			assertThat(open.bean(Operations.class).runs()).isZero();
		}
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void refusesARequestWhoseResolverReturnsNull(CapturedOutput output) {
		try (WebApplication open = WebApplication.start(NullScopeApplication.class, redis)) {
			HttpResponse<byte[]> refused = open.post("/answers/200", "", KEY, this.key);
			assertProblem(refused, "caller-unknown");
			assertThat(output).contains(NullScopeApplication.class.getName(), "returned null");
			assertThat(open.bean(Operations.class).runs()).isZero();
		}
	}

	@Test
	void letsCallersWithoutAPrincipalShareTheKeysThatTheySend() {
		try (WebApplication open = WebApplication.start(OperationsApplication.class, redis)) {
			assertThat(text(open.post("/answers/200", "", KEY, this.key))).isEqualTo("run 1");
			assertThat(text(open.post("/answers/200", "", KEY, this.key))).isEqualTo("run 1");
		}
	}

	@Test
	void keepsTheKeysOfTwoApplicationsApart() {
		try (WebApplication one = WebApplication.start(OperationsApplication.class, redis, "idempotent.namespace=one");
				WebApplication two = WebApplication.start(OperationsApplication.class, redis,
						"idempotent.namespace=two");
				WebApplication secondOfTwo = WebApplication.start(OperationsApplication.class, redis,
						"idempotent.namespace=two")) {
			assertThat(text(one.post("/answers/200", "", KEY, this.key))).isEqualTo("run 1");
			assertThat(text(two.post("/answers/201", "", KEY, this.key))).isEqualTo("run 1");
			HttpResponse<byte[]> retry = secondOfTwo.post("/answers/201", "", KEY, this.key);
			assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");
			assertThat(secondOfTwo.bean(Operations.class).runs()).isZero();
		}
	}

	private HttpResponse<byte[]> post(String path, String user) {
		String credentials = Base64.getEncoder().encodeToString((user + ":secret").getBytes(StandardCharsets.UTF_8));
		return secured.post(path, "", KEY, this.key, "Authorization", "Basic " + credentials);
	}

	@RestController
	static class Accounts {

		private final AtomicInteger runs = new AtomicInteger();

		@PostMapping("/accounts")
		@Idempotent
		String open(Principal principal) {
			return principal.getName() + this.runs.incrementAndGet();
		}

		@PostMapping("/admin")
		@Idempotent
		@PreAuthorize("hasRole('ADMIN')")
		String administer() {
			return "done";
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableMethodSecurity
	@Import(Accounts.class)
	static class SecuredApplication {

		@Bean
		SecurityFilterChain securityFilterChain(HttpSecurity http) {
			return http.csrf((csrf) -> csrf.disable())
				.authorizeHttpRequests((requests) -> requests.anyRequest().authenticated())
				.httpBasic(Customizer.withDefaults())
				.build();
		}

		@Bean
		InMemoryUserDetailsManager users() {
			return new InMemoryUserDetailsManager(
					User.withUsername("ada").password("{noop}secret").roles("USER").build(),
					User.withUsername("bob").password("{noop}secret").roles("USER").build());
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import(OperationsApplication.class)
	static class NullScopeApplication {

		@Bean
		IdempotencyScopeResolver nullScopes() {
			return (request) -> request.getHeader("X-Tenant");
		}

	}

}
