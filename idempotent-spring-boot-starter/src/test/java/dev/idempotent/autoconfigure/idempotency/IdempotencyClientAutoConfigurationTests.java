package dev.idempotent.autoconfigure.idempotency;

import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.client.Downstream;
import dev.idempotent.idempotency.client.IdempotencyKeyInterceptor;
import dev.idempotent.idempotency.client.PropagationTargets;
import dev.idempotent.idempotency.client.RestClientKeys;
import dev.idempotent.testing.ClassPathWithout;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.http.client.autoconfigure.HttpClientAutoConfiguration;
import org.springframework.boot.http.client.autoconfigure.imperative.ImperativeHttpClientAutoConfiguration;
import org.springframework.boot.http.client.autoconfigure.service.HttpServiceClientPropertiesAutoConfiguration;
import org.springframework.boot.restclient.RestClientCustomizer;
import org.springframework.boot.restclient.RestTemplateBuilder;
import org.springframework.boot.restclient.RestTemplateCustomizer;
import org.springframework.boot.restclient.autoconfigure.RestClientAutoConfiguration;
import org.springframework.boot.restclient.autoconfigure.RestTemplateAutoConfiguration;
import org.springframework.boot.restclient.autoconfigure.service.HttpServiceClientAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestTemplate;
import org.springframework.web.service.annotation.PostExchange;
import org.springframework.web.service.registry.ImportHttpServices;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.throwable;

/**
 * Tests for {@link IdempotencyClientAutoConfiguration}.
 */
class IdempotencyClientAutoConfigurationTests {

	private static final String TARGETS = "idempotent.client.targets.pay=pay.example.com, 127.0.0.1";

	private final Downstream downstream = new Downstream();

	private final ApplicationContextRunner application = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(HttpClientAutoConfiguration.class, ImperativeHttpClientAutoConfiguration.class,
						RestClientAutoConfiguration.class, RestTemplateAutoConfiguration.class,
						HttpServiceClientPropertiesAutoConfiguration.class, HttpServiceClientAutoConfiguration.class,
						IdempotencyClientAutoConfiguration.class, OtherCustomizers.AutoConfigured.class))
		.withPropertyValues("spring.http.serviceclient.charges.base-url=" + this.downstream.url());

	@BeforeEach
	void beginRun() {
		IdempotencyContext.bind(new IdempotencyContext(Samples.key(), "token"));
	}

	@AfterEach
	void endRun() {
		IdempotencyContext.bind(null);
		this.downstream.close();
	}

	@Test
	void reachesRestClients() {
		this.application.withPropertyValues(TARGETS).run((context) -> {
			post(context.getBean(RestClient.Builder.class));
			post(context.getBean(RestClient.Builder.class));
			assertThat(this.downstream.keys()).hasSize(2).doesNotContain("none").doesNotHaveDuplicates();
		});
	}

	@Test
	void reachesRestTemplates() {
		this.application.withPropertyValues(TARGETS).run((context) -> {
			RestTemplate restTemplate = context.getBean(RestTemplateBuilder.class).build();
			restTemplate.postForObject(this.downstream.url() + "/charges", "one", String.class);
			post(RestClient.builder(restTemplate));
			assertThat(this.downstream.keys()).hasSize(2).doesNotContain("none").doesNotHaveDuplicates();
		});
	}

	@Test
	void reachesHttpInterfaces() {
		this.application.withPropertyValues(TARGETS).withUserConfiguration(Interfaces.class).run((context) -> {
			context.getBean(Charges.class).charge();
			assertThat(this.downstream.keys()).hasSize(1).doesNotContain("none");
		});
	}

	@Test
	void comesBeforeTheInterceptorsOfAllOtherCustomizers() {
		this.application.withPropertyValues(TARGETS).withUserConfiguration(OtherCustomizers.class).run((context) -> {
			IdempotencyKeyInterceptor interceptor = context.getBean(IdempotencyKeyInterceptor.class);
			RestClient.Builder builder = context.getBean(RestClient.Builder.class);
			assertThat(interceptors(builder)).containsExactly(interceptor, OtherCustomizers.INTERCEPTOR,
					OtherCustomizers.INTERCEPTOR);
			context.getBeanProvider(RestClientCustomizer.class)
				.orderedStream()
				.forEach((customizer) -> customizer.customize(builder));
			assertThat(interceptors(builder)).containsOnlyOnce(interceptor).startsWith(interceptor);
			assertThat(context.getBean(RestTemplateBuilder.class)
				.additionalInterceptors(OtherCustomizers.INTERCEPTOR)
				.build())
				.satisfies((restTemplate) -> assertThat(restTemplate.getInterceptors()).startsWith(interceptor)
					.hasSizeGreaterThan(1));
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "idempotent.client.targets.pay[0]=127.0.0.1", "idempotent.client.targets.pay=127.0.0.1",
			"idempotent.client.targets=" })
	void isOnlyForApplicationsWithTargets(String property) {
		this.application.run((context) -> {
			assertThat(context).doesNotHaveBean(IdempotencyKeyInterceptor.class).hasSingleBean(RestClientKeys.class);
			post(context.getBean(RestClient.Builder.class));
			assertThat(this.downstream.keys()).containsExactly("none");
		});
		this.application.withPropertyValues(property)
			.run((context) -> assertThat(context).hasSingleBean(IdempotencyKeyInterceptor.class));
	}

	@Test
	void sendsNoKeyToOtherServices() {
		this.application.withPropertyValues("idempotent.client.targets.pay=pay.example.com").run((context) -> {
			post(context.getBean(RestClient.Builder.class));
			assertThat(this.downstream.keys()).containsExactly("none");
		});
	}

	@Test
	void goesWithNoRedirectIfTheClientFollowsNone() {
		try (Downstream other = new Downstream()) {
			this.downstream.redirectsTo(other);
			this.downstream.willAnswer(307);
			this.application.withPropertyValues(TARGETS, "spring.http.clients.redirects=dont-follow").run((context) -> {
				post(context.getBean(RestClient.Builder.class));
				assertThat(this.downstream.keys()).hasSize(1).doesNotContain("none");
				assertThat(other.keys()).isEmpty();
			});
		}
	}

	@Test
	void isOffIfIdempotencyIsDisabled() {
		this.application.withPropertyValues(TARGETS, "idempotent.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(IdempotencyKeyInterceptor.class));
	}

	@Test
	void usesTheInterceptorOfTheApplication() {
		this.application.withPropertyValues(TARGETS)
			.withBean("own", IdempotencyKeyInterceptor.class,
					() -> new IdempotencyKeyInterceptor(PropagationTargets.of(Map.of())))
			.run((context) -> {
				post(context.getBean(RestClient.Builder.class));
				assertThat(this.downstream.keys()).containsExactly("none");
			});
	}

	@ParameterizedTest
	@CsvSource({ "org.springframework.boot.restclient, true", "org.springframework.http.client, false" })
	void doesWithoutTheLibrariesThatAreMissing(String missing, boolean interceptor) throws ClassNotFoundException {
		ClassPathWithout classPath = new ClassPathWithout(missing);
		new ApplicationContextRunner().withClassLoader(classPath)
			.withPropertyValues(TARGETS)
			.withUserConfiguration(classPath.loadClass(Alone.class.getName()))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context.containsBean("idempotencyKeyInterceptor")).isEqualTo(interceptor);
			});
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					.pay=pay.example.com, *.example.com | pay[1] is not of the form [scheme://]host[:port][/path] with the scheme http or https and a host
					.pay=ftp://example.com | pay[0] is not of the form [scheme://]host[:port][/path] with the scheme http or https and a host
					.pay=https://u:p@example.com | pay[0] is not of the form [scheme://]host[:port][/path]: it has user information
					.pay= | pay has no location
					[0]=pay.example.com | the name of a target consists of at most 100 letters, digits, dashes and underscores, with a letter among them
					""")
	void stopsTheApplicationForAMalformedTarget(String target, String message) {
		this.application.withPropertyValues("idempotent.client.targets" + target)
			.run((context) -> assertThat(causes(context.getStartupFailure()))
				.filteredOn(IdempotentConfigurationException.class::isInstance)
				.singleElement()
				.asInstanceOf(throwable(IdempotentConfigurationException.class))
				.hasMessage("idempotent.client.targets: " + message + ".")
				.extracting(IdempotentConfigurationException::getAction)
				.asString()
				.contains("pay.example.com"));
	}

	@Test
	void leavesCallsToRepeatableServicesAlone() {
		IdempotencyContext.bind(IdempotencyContext.forSingleCall(Samples.key(), "token", null, null));
		this.application
			.withPropertyValues("idempotent.client.targets.pay=pay.example.com",
					"idempotent.client.repeatable=127.0.0.1:" + URI.create(this.downstream.url()).getPort())
			.run((context) -> {
				post(context.getBean(RestClient.Builder.class));
				assertThat(this.downstream.keys()).containsExactly("none");
			});
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					auth.example.com, *.example.com | location[1] is not of the form [scheme://]host[:port][/path] with the scheme http or https and a host
					auth.example.com, pay.example.com | location[1] is also one of the target pay
					""")
	void stopsTheApplicationForAMalformedRepeatableService(String locations, String message) {
		this.application
			.withPropertyValues("idempotent.client.targets.pay=pay.example.com",
					"idempotent.client.repeatable=" + locations)
			.run((context) -> assertThat(causes(context.getStartupFailure()))
				.filteredOn(IdempotentConfigurationException.class::isInstance)
				.singleElement()
				.asInstanceOf(throwable(IdempotentConfigurationException.class))
				.hasMessage("idempotent.client.repeatable: " + message + "."));
	}

	@Test
	void stopsTheApplicationIfNoTargetHasTheNameOfOneThatHonoursKeys() {
		for (String targets : List.of("idempotent.client.targets.pay=pay.example.com", "other=")) {
			this.application.withPropertyValues(targets, "idempotent.client.honouring-keys=payments")
				.run((context) -> assertThat(causes(context.getStartupFailure()))
					.filteredOn(IdempotentConfigurationException.class::isInstance)
					.singleElement()
					.asInstanceOf(throwable(IdempotentConfigurationException.class))
					.hasMessage("idempotent.client.honouring-keys: payments is not the name of a target."));
		}
	}

	private static List<Throwable> causes(@Nullable Throwable failure) {
		List<Throwable> causes = new ArrayList<>();
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			causes.add(cause);
		}
		return causes;
	}

	private void post(RestClient.Builder builder) {
		builder.build().post().uri(this.downstream.url() + "/charges").body("one").retrieve().toBodilessEntity();
	}

	private static List<ClientHttpRequestInterceptor> interceptors(RestClient.Builder builder) {
		List<ClientHttpRequestInterceptor> found = new ArrayList<>();
		builder.requestInterceptors(found::addAll);
		return found;
	}

	interface Charges {

		@PostExchange("/charges")
		String charge();

	}

	@Configuration(proxyBeanMethods = false)
	@ImportHttpServices(group = "charges", types = Charges.class)
	static class Interfaces {

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(IdempotencyClientAutoConfiguration.class)
	static class Alone {

	}

	/**
	 * An application that has an interceptor of its own put first.
	 */
	@Configuration(proxyBeanMethods = false)
	static class OtherCustomizers {

		static final ClientHttpRequestInterceptor INTERCEPTOR = (request, body, execution) -> execution.execute(request,
				body);

		@Bean
		RestClientCustomizer first() {
			return (builder) -> builder.requestInterceptors((interceptors) -> interceptors.add(0, INTERCEPTOR));
		}

		/**
		 * Adds its interceptor first, too, and as late as it can.
		 */
		@AutoConfiguration
		static class AutoConfigured {

			@Bean
			@Order(Ordered.LOWEST_PRECEDENCE)
			RestClientCustomizer last() {
				return (builder) -> builder.requestInterceptors((interceptors) -> interceptors.add(0, INTERCEPTOR));
			}

			@Bean
			@Order(Ordered.LOWEST_PRECEDENCE)
			RestTemplateCustomizer lastOfTemplates() {
				return (restTemplate) -> restTemplate.getInterceptors().add(0, INTERCEPTOR);
			}

		}

	}

}
