package dev.idempotent.idempotency.web;

import java.lang.reflect.Method;
import java.net.http.HttpResponse;
import java.util.UUID;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.WebApplication;
import jakarta.servlet.http.HttpServletRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.tenants.TenantHandlerMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.util.UrlPathHelper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Handlers of one URL that a mapping of the application tells apart by what is not
 * compared.
 */
class HandlersOfOneUrlIntegrationTests extends AbstractTomcatAndJettyTests {

	@BeforeParameterizedClassInvocation
	static void start(String container) {
		startWithDatabase(Application.class, container);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/by-path/lease", "/by-path/transaction", "/by-bean" })
	void neverAnswerForEachOther(String path) {
		HttpResponse<byte[]> one = post(path, "X-Tenant", "a");
		assertThat(one.statusCode()).isEqualTo(200);
		assertThat(WebApplication.text(one)).endsWith("a");
		assertThat(post(path, "X-Tenant", "b").statusCode()).isEqualTo(422);
		HttpResponse<byte[]> retry = post(path, "X-Tenant", "a");
		assertThat(isReplay(retry)).isTrue();
		assertThat(retry.body()).isEqualTo(one.body());
	}

	/**
	 * Which mappings there are beside the one that finds a handler does not count, and
	 * neither does the package of a mapping.
	 */
	@Test
	void areToldApartByTheMappingThatFindsThem() {
		try (WebApplication own = start(WithOwnMapping.class); WebApplication library = start(WithLibrary.class)) {
			assertThat(post(own, "/plain", "a").statusCode()).isEqualTo(200);
			assertThat(isReplay(post(library, "/plain", "a"))).isTrue();
		}
	}

	@Test
	void areToldApartIfTheMappingIsThatOfALibrary() {
		try (WebApplication library = start(WithLibrary.class)) {
			assertThat(post(library, "/by-library", "a").statusCode()).isEqualTo(200);
			assertThat(post(library, "/by-library", "b").statusCode()).isEqualTo(422);
			assertThat(isReplay(post(library, "/by-library", "a"))).isTrue();
		}
	}

	private WebApplication start(Class<?> source) {
		return WebApplication.start(source, redis, "test.container=" + this.container, WebApplication.WITH_DATABASE,
				"spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID());
	}

	private HttpResponse<byte[]> post(WebApplication to, String path, String tenant) {
		return to.post(path, "{}", "Idempotency-Key", this.key, "X-Tenant", tenant);
	}

	@RestController
	static class ByPath {

		@Idempotent
		@PostMapping("/a/by-library")
		public String byLibrary() {
			return "a";
		}

		@Idempotent
		@PostMapping("/b/by-library")
		public String byOtherTenantOfLibrary() {
			return "b";
		}

		@Idempotent
		@PostMapping("/plain")
		String plain() {
			return "plain";
		}

		@Idempotent
		@PostMapping("/a/by-path/lease")
		String leaseOfA() {
			return "a";
		}

		@Idempotent
		@PostMapping("/b/by-path/lease")
		String leaseOfB() {
			return "b";
		}

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/a/by-path/transaction")
		String transactionOfA() {
			return "a";
		}

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/b/by-path/transaction")
		String transactionOfB() {
			return "b";
		}

	}

	/**
	 * A class of several beans.
	 */
	@RestController
	static class OfTenant {

		private final String tenant;

		OfTenant(String tenant) {
			this.tenant = tenant;
		}

		@Idempotent
		@PostMapping("/of-tenant")
		String run() {
			return this.tenant;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(ByPath.class)
	static class WithOwnMapping {

		@Bean
		HandlerMapping own() {
			return (request) -> null;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(ByPath.class)
	static class WithLibrary {

		@Bean
		HandlerMapping byLibrary(ByPath handlers) throws NoSuchMethodException {
			return new TenantHandlerMapping("/by-library",
					new HandlerMethod(handlers, ByPath.class.getMethod("byLibrary")),
					new HandlerMethod(handlers, ByPath.class.getMethod("byOtherTenantOfLibrary")));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(ByPath.class)
	static class Application {

		/**
		 * Spring MVC itself maps no bean with such a name.
		 */
		@Bean("scopedTarget.a")
		OfTenant a() {
			return new OfTenant("a");
		}

		@Bean("scopedTarget.b")
		OfTenant b() {
			return new OfTenant("b");
		}

		@Bean
		HandlerMapping byBean(BeanFactory beans) throws NoSuchMethodException {
			Method run = OfTenant.class.getDeclaredMethod("run");
			return new TenantHandlerMapping("/by-bean", new HandlerMethod("scopedTarget.a", beans, run),
					new HandlerMethod("scopedTarget.b", beans, run));
		}

		/**
		 * Looks up the path of the tenant.
		 */
		@Bean(defaultCandidate = false)
		RequestMappingHandlerMapping byPath() {
			RequestMappingHandlerMapping mapping = new RequestMappingHandlerMapping() {

				@Override
				protected String initLookupPath(HttpServletRequest request) {
					String path = super.initLookupPath(request);
					if (path.startsWith("/by-path/")) {
						path = "/" + request.getHeader("X-Tenant") + path;
						request.setAttribute(UrlPathHelper.PATH_ATTRIBUTE, path);
					}
					return path;
				}

			};
			mapping.setPatternParser(null);
			mapping.setOrder(-2);
			return mapping;
		}

	}

}
