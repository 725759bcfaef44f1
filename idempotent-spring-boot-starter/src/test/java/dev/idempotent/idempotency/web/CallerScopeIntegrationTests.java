package dev.idempotent.idempotency.web;

import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.util.Base64;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.DocumentedProblem;
import dev.idempotent.testing.PlainPasswords;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.method.configuration.EnableMethodSecurity;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.authentication.UsernamePasswordAuthenticationFilter;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

import static dev.idempotent.testing.DocumentedProblem.assertProblem;
import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Callers with Spring Security, with a filter or resolver of the application, and without
 * any.
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

	@Test
	void runsOncePerCallerAndKeyHoweverManyUseTheSameKeys() throws Exception {
		List<String> keys = Stream.generate(() -> UUID.randomUUID().toString()).limit(50).toList();
		ExecutorService threads = Executors.newCachedThreadPool();
		try (WebApplication application = WebApplication.start(EchoApplication.class, redis)) {
			List<Callable<Long>> callers = Stream.of("ada", "bob")
				.flatMap((caller) -> IntStream.range(0, 4)
					.mapToObj((thread) -> (Callable<Long>) () -> keys.stream()
						.filter((each) -> getsOnlyItsOwn(application, caller, each))
						.count()))
				.toList();
			long answers = 0;
			for (Future<Long> answered : threads.invokeAll(callers)) {
				answers += answered.get();
			}
			assertThat(answers).isGreaterThanOrEqualTo(2L * keys.size());
			assertThat(application.bean(Echo.class).runs()).isEqualTo(2 * keys.size());
		}
		finally {
			threads.shutdownNow();
		}
	}

	@Test
	void givesCallersOfTheSecurityContextKeysOfTheirOwnWithoutTheFiltersOfSpringSecurity() {
		try (WebApplication application = WebApplication.start(OwnFilter.class, redis)) {
			assertThatCallersHaveSeparateKeys(application);
		}
	}

	@Test
	void givesCallersOfTheSecurityContextKeysOfTheirOwnWithoutServletApiSupport() {
		try (WebApplication application = WebApplication.start(WithoutServletApi.class, redis,
				WebApplication.WITH_SECURITY)) {
			assertThatCallersHaveSeparateKeys(application);
		}
	}

	@Test
	void takesACallerForTheSameWhoIsRememberedAfterTheLossOfTheSession() {
		try (WebApplication application = WebApplication.start(RememberingApplication.class, redis,
				WebApplication.WITH_DATABASE, WebApplication.WITH_SECURITY,
				"spring.datasource.url=jdbc:h2:mem:remembered", "spring.datasource.username=sa",
				"spring.datasource.password=")) {
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
			String other = text(application.post("/orders", "{}", KEY, "other-" + this.key, "Cookie",
					cookie(login, "remember-me")));
			assertThat(other).isEqualTo("RememberMeAuthenticationToken 2");
		}
	}

	private HttpResponse<byte[]> post(String path, String user) {
		String credentials = Base64.getEncoder().encodeToString((user + ":secret").getBytes(StandardCharsets.UTF_8));
		return secured.post(path, "", KEY, this.key, "Authorization", "Basic " + credentials);
	}

	/**
	 * Returns whether the caller was answered; a concurrent duplicate must retry.
	 */
	private static boolean getsOnlyItsOwn(WebApplication application, String caller, String key) {
		HttpResponse<byte[]> response = application.post("/echo", "\"" + caller + "\"", KEY, key, "X-Caller", caller);
		assertThat(response.statusCode()).isIn(200, 409);
		if (response.statusCode() == 200) {
			assertThat(text(response)).isEqualTo("\"" + caller + "\" said " + caller);
		}
		return response.statusCode() == 200;
	}

	private static void assertThatCallersHaveSeparateKeys(WebApplication application) {
		String key = UUID.randomUUID().toString();
		assertThat(text(putInBasket(application, key, "alice"))).isEqualTo("run 1");
		assertThat(text(putInBasket(application, key, "bob"))).isEqualTo("run 2");
		HttpResponse<byte[]> retry = putInBasket(application, key, "alice");
		assertThat(text(retry)).isEqualTo("run 1");
		assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");
	}

	private static HttpResponse<byte[]> putInBasket(WebApplication application, String key, String caller) {
		return application.post("/basket", "{}", KEY, key, "X-API-Key", caller);
	}

	private static Filter apiKeys() {
		return (request, response, chain) -> {
			String caller = ((HttpServletRequest) request).getHeader("X-API-Key");
			SecurityContextHolder.getContext()
				.setAuthentication(UsernamePasswordAuthenticationToken.authenticated(caller, null, List.of()));
			try {
				chain.doFilter(request, response);
			}
			finally {
				SecurityContextHolder.clearContext();
			}
		};
	}

	private HttpResponse<byte[]> order(WebApplication application, String cookie) {
		return application.post("/orders", "{}", KEY, this.key, "Cookie", cookie);
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
	@Import({ Accounts.class, PlainPasswords.class })
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
			return new InMemoryUserDetailsManager(User.withUsername("ada").password("secret").roles("USER").build(),
					User.withUsername("bob").password("secret").roles("USER").build());
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

	@RestController
	static class Echo {

		private final AtomicInteger runs = new AtomicInteger();

		int runs() {
			return this.runs.get();
		}

		@PostMapping("/echo")
		@Idempotent
		String echo(@RequestBody String body, @RequestHeader("X-Caller") String caller) {
			this.runs.incrementAndGet();
			return body + " said " + caller;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Echo.class)
	static class EchoApplication {

		@Bean
		IdempotencyScopeResolver scopeResolver() {
			return (request) -> request.getHeader("X-Caller");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Basket.class)
	static class OwnFilter {

		@Bean
		FilterRegistrationBean<Filter> apiKeyFilter() {
			return new FilterRegistrationBean<>(apiKeys());
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Basket.class)
	static class WithoutServletApi {

		@Bean
		SecurityFilterChain securityFilterChain(HttpSecurity http) {
			return http.csrf((csrf) -> csrf.disable())
				.servletApi((servletApi) -> servletApi.disable())
				.authorizeHttpRequests((requests) -> requests.anyRequest().authenticated())
				.addFilterBefore(apiKeys(), UsernamePasswordAuthenticationFilter.class)
				.build();
		}

	}

	@RestController
	static class Basket {

		private final AtomicInteger runs = new AtomicInteger();

		@PostMapping("/basket")
		@Idempotent
		String put() {
			return "run " + this.runs.incrementAndGet();
		}

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
	@Import({ Orders.class, PlainPasswords.class })
	static class RememberingApplication {

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
			return new InMemoryUserDetailsManager(User.withUsername("ada").password("secret").roles("USER").build());
		}

	}

}
