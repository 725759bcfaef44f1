package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.lang.reflect.Method;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.UUID;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.WebApplication;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.tenants.TenantHandlerMapping;
import org.springframework.web.HttpRequestHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerExecutionChain;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.mvc.condition.RequestCondition;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.util.UrlPathHelper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Handlers of one URL that a mapping of the application tells apart by what is not
 * compared.
 */
class HandlersOfOneUrlIntegrationTests extends AbstractTomcatAndJettyTests {

	@BeforeParameterizedClassInvocation
	static void start(String container) {
		startWithDatabase(Application.class, container, "idempotent.web.required-for=POST /by-request,POST /late/rule");
		RequestMappingHandlerMapping mapping = application.bean(Mappings.class).first();
		map(mapping, new LateOfA(), RequestMappingInfo.paths("/late/rule").headers("X-Tenant=a"));
		map(mapping, new LateOfB(), RequestMappingInfo.paths("/late/rule").headers("X-Tenant=b"));
	}

	private static void map(RequestMappingHandlerMapping mapping, Object handler, RequestMappingInfo.Builder info) {
		mapping.registerMapping(info.methods(RequestMethod.POST).options(mapping.getBuilderConfiguration()).build(),
				handler, handler.getClass().getDeclaredMethods()[0]);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/by-path/lease", "/by-path/transaction", "/by-bean", "/by-singleton", "/by-request",
			"/late/rule" })
	void neverAnswerForEachOther(String path) {
		HttpResponse<byte[]> one = post(path, "X-Tenant", "a");
		assertThat(one.statusCode()).isEqualTo(200);
		assertThat(WebApplication.text(one)).endsWith("a");
		assertThat(post(path, "X-Tenant", "b").statusCode()).isEqualTo(422);
		HttpResponse<byte[]> retry = post(path, "X-Tenant", "a");
		assertThat(isReplay(retry)).isTrue();
		assertThat(retry.body()).isEqualTo(one.body());
	}

	@Test
	void doNotRunIfTheyAreObjectsThatCannotBeToldApart() {
		for (String tenant : List.of("a", "b")) {
			assertThat(post("/by-object", "X-Tenant", tenant).statusCode()).isEqualTo(500);
		}
	}

	@Test
	void stopTheStartIfCustomConditionsSelectObjectsOfOneClass() {
		assertThatExceptionOfType(IdempotentConfigurationException.class)
			.isThrownBy(() -> start(WithConditions.class).close())
			.withMessageContaining("is mapped for several beans with custom conditions");
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

	static class LateOfA {

		@ResponseBody
		public String run() {
			return "a";
		}

	}

	static class LateOfB {

		@ResponseBody
		public String run() {
			return "b";
		}

	}

	/**
	 * A class of several objects that are no beans.
	 */
	record Unnamed(String tenant) {

		@Idempotent
		@ResponseBody
		public String run() {
			return this.tenant;
		}

	}

	/**
	 * A class of several beans that are no controllers.
	 */
	record Hook(String tenant) implements HttpRequestHandler {

		@Override
		public void handleRequest(HttpServletRequest request, HttpServletResponse response) throws IOException {
			response.getWriter().print(this.tenant);
		}

	}

	record ByRequest(Hook one, Hook other) implements HandlerMapping, Ordered {

		@Override
		public int getOrder() {
			return -1;
		}

		@Override
		public @Nullable HandlerExecutionChain getHandler(HttpServletRequest request) {
			return !request.getRequestURI().equals("/by-request") ? null
					: new HandlerExecutionChain("a".equals(request.getHeader("X-Tenant")) ? this.one : this.other);
		}

	}

	record OfHeader(String tenant) implements RequestCondition<OfHeader> {

		@Override
		public OfHeader combine(OfHeader other) {
			return other;
		}

		@Override
		public @Nullable OfHeader getMatchingCondition(HttpServletRequest request) {
			return this.tenant.equals(request.getHeader("X-Tenant")) ? this : null;
		}

		@Override
		public int compareTo(OfHeader other, HttpServletRequest request) {
			return 0;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class WithConditions {

		@Bean
		InitializingBean conditions(RequestMappingHandlerMapping requestMappingHandlerMapping) {
			return () -> List.of("a", "b")
				.forEach((tenant) -> map(requestMappingHandlerMapping, new Unnamed(tenant),
						RequestMappingInfo.paths("/by-condition").customCondition(new OfHeader(tenant))));
		}

	}

	/**
	 * The mappings by their order.
	 */
	record Mappings(RequestMappingHandlerMapping first) {
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
		Mappings mappings(RequestMappingHandlerMapping requestMappingHandlerMapping) {
			return new Mappings(requestMappingHandlerMapping);
		}

		@Bean
		Hook hookOfA() {
			return new Hook("a");
		}

		@Bean
		Hook hookOfB() {
			return new Hook("b");
		}

		@Bean
		HandlerMapping byRequest(Hook hookOfA, Hook hookOfB) {
			return new ByRequest(hookOfA, hookOfB);
		}

		@Bean
		HandlerMapping bySingleton(@Qualifier("scopedTarget.a") OfTenant a, @Qualifier("scopedTarget.b") OfTenant b)
				throws NoSuchMethodException {
			Method run = OfTenant.class.getDeclaredMethod("run");
			return new TenantHandlerMapping("/by-singleton", new HandlerMethod(a, run), new HandlerMethod(b, run));
		}

		@Bean
		HandlerMapping byObject() throws NoSuchMethodException {
			Method run = Unnamed.class.getDeclaredMethod("run");
			return new TenantHandlerMapping("/by-object", new HandlerMethod(new Unnamed("a"), run),
					new HandlerMethod(new Unnamed("b"), run));
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
