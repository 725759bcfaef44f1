package dev.idempotent.autoconfigure.idempotency;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.time.InstantSource;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;

import dev.idempotent.autoconfigure.outbox.ImportOutbox;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.engine.IdempotencyEngine;
import dev.idempotent.idempotency.redis.RedisIdempotencyStore;
import dev.idempotent.idempotency.web.IdempotencyFilter;
import dev.idempotent.idempotency.web.IdempotencyScopeResolver;
import dev.idempotent.test.InMemoryIdempotencyStore;
import dev.idempotent.testing.WebApplication;
import jakarta.servlet.DispatcherType;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.ServletContextInitializer;
import org.springframework.boot.web.servlet.ServletContextInitializerBeans;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link IdempotencyAutoConfiguration} and {@link IdempotencyAutoConfiguration}
 * amid all others of the class path.
 */
class IdempotencyAutoConfigurationTests {

	private static final String NAME = "idempotent.namespace=shop";

	/**
	 * What most applications of tests leave out.
	 */
	private static final String[] OTHERS = { WebApplication.WITH_JPA, WebApplication.WITH_SECURITY,
			WebApplication.WITH_SPRINGDOC };

	private final WebApplicationContextRunner application = new WebApplicationContextRunner().withPropertyValues(NAME)
		.withUserConfiguration(Application.class);

	@Test
	void protectsAServletApplicationWithItsRedis() {
		this.application.withPropertyValues(OTHERS).run((context) -> {
			assertThat(ours(context)).contains("idempotencyFilter", "idempotencyEngine", "redisIdempotencyStore");
			assertThat(context.getBean(IdempotencyEngine.class).storeName()).isEqualTo("Redis");
			assertThat(context).getBean(IdempotencyStore.class).isInstanceOf(RedisIdempotencyStore.class);
		});
	}

	@Test
	void registersItsFilterForEveryDispatchAndAsTheLastOne() {
		this.application.withPropertyValues(OTHERS).run((context) -> {
			List<ServletContextInitializer> filters = filters(context);
			FilterRegistrationBean<?> registration = (FilterRegistrationBean<?>) filters.get(filters.size() - 1);
			assertThat(registration.getFilter()).isSameAs(context.getBean(IdempotencyFilter.class));
			assertThat(registration.isMatchAfter()).isTrue();
			assertThat(registration.getServletNames()).containsExactly("*");
			assertThat(registration.getUrlPatterns()).isEmpty();
			assertThat(registration.determineDispatcherTypes()).containsExactlyInAnyOrder(DispatcherType.REQUEST,
					DispatcherType.ASYNC, DispatcherType.ERROR, DispatcherType.FORWARD);
		});
	}

	@Test
	void startsBesideARedisThatIsSilent() throws IOException {
		try (ServerSocketChannel silentServer = ServerSocketChannel.open()) {
			silentServer.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).configureBlocking(false);
			this.application.withPropertyValues("spring.data.redis.host=127.0.0.1",
					"spring.data.redis.port=" + silentServer.socket().getLocalPort(), "idempotent.redis.timeout=100ms")
				.run((context) -> {
					IdempotencyStore store = context.getBean(IdempotencyStore.class);
					assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
						.isThrownBy(() -> store.release(new IdempotencyKey("0".repeat(64)), "token"));
					await().until(silentServer::accept, Objects::nonNull).close();
				});
		}
	}

	@Test
	void protectsTheMethodsOfAnApplicationWithoutWeb() {
		new ApplicationContextRunner().withPropertyValues(NAME)
			.withUserConfiguration(Application.class)
			.run((context) -> assertThat(ours(context)).contains("idempotencyEngine", "idempotencyTemplate")
				.doesNotContain("idempotencyFilter"));
	}

	@Test
	void protectsTheMethodsOfAReactiveApplication() {
		new ReactiveWebApplicationContextRunner().withPropertyValues(NAME)
			.withUserConfiguration(Application.class)
			.run((context) -> assertThat(ours(context)).contains("idempotencyEngine", "idempotencyTemplate")
				.doesNotContain("idempotencyFilter"));
	}

	@Test
	void canBeSwitchedOff() {
		this.application
			.withPropertyValues("idempotent.enabled=false", "idempotent.outbox.enabled=false",
					"idempotent.stream.enabled=false")
			.run((context) -> assertThat(ours(context))
				.allMatch((name) -> name.contains("Check") || name.endsWith("OutboxModulithAutoConfiguration")));
	}

	@Test
	void canBeSwitchedOffWithoutLosingEvents() {
		this.application.withPropertyValues("idempotent.enabled=false")
			.run((context) -> assertThat(ours(context)).doesNotContain("idempotencyEngine", "idempotencyFilter")
				.contains(ImportOutbox.CLASS.getName()));
	}

	@Test
	void prefersTheStoreOfTheApplication() {
		IdempotencyStore own = new InMemoryIdempotencyStore(InstantSource.system());
		this.application.withBean("own", IdempotencyStore.class, () -> own).run((context) -> {
			assertThat(context).getBean(IdempotencyStore.class).isSameAs(own);
			assertThat(ours(context)).doesNotContain("idempotencyRedisConnection").contains("idempotencyFilter");
		});
	}

	@Test
	void prefersTheScopeResolverOfTheApplication() {
		IdempotencyScopeResolver own = (request) -> "tenant";
		this.application.withBean(IdempotencyScopeResolver.class, () -> own)
			.run((context) -> assertThat(context).getBean(IdempotencyScopeResolver.class).isSameAs(own));
	}

	@Test
	void leavesTheRegistrationToTheApplication() {
		this.application.withUserConfiguration(OwnRegistration.class)
			.run((context) -> assertThat(ownRegistrations(context)).singleElement()
				.returns(OwnRegistration.ORDER, FilterRegistrationBean::getOrder));
	}

	private static List<FilterRegistrationBean<?>> ownRegistrations(ApplicationContext context) {
		return filters(context).stream()
			.<FilterRegistrationBean<?>>map(FilterRegistrationBean.class::cast)
			.filter((registration) -> registration.getFilter() instanceof IdempotencyFilter)
			.toList();
	}

	private static List<ServletContextInitializer> filters(ApplicationContext context) {
		return new ServletContextInitializerBeans(context).stream()
			.filter(FilterRegistrationBean.class::isInstance)
			.toList();
	}

	private static List<String> ours(ApplicationContext context) {
		return Stream.of(context.getBeanDefinitionNames())
			.filter((name) -> !context.getBean(name).getClass().getName().contains("Tests"))
			.filter((name) -> name.toLowerCase(Locale.ROOT).contains("idempoten"))
			.toList();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

	}

	@Configuration(proxyBeanMethods = false)
	static class OwnRegistration {

		static final int ORDER = 7;

		@Bean
		FilterRegistrationBean<IdempotencyFilter> registration(IdempotencyFilter filter) {
			FilterRegistrationBean<IdempotencyFilter> registration = new FilterRegistrationBean<>(filter);
			registration.setOrder(ORDER);
			return registration;
		}

	}

}
