package dev.idempotent.idempotency.web.context;

import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;

import dev.idempotent.idempotency.web.context.Sightings.Sighting;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.task.support.ContextPropagatingTaskDecorator;
import reactor.core.publisher.Hooks;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The context on other threads that continue the work of a handler.
 */
class ContextPropagationIntegrationTests {

	private static final String PROPAGATE = "spring.task.execution.propagate-context=true";

	private static final String VIRTUAL = "spring.threads.virtual.enabled=true";

	private static final String[] ONE_THREAD = { "spring.task.execution.pool.core-size=1",
			"spring.task.execution.pool.max-size=1" };

	private static final String[] HANDLERS = { "/over/async-method", "/over/callable", "/over/future",
			"/over/deferred" };

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@Test
	void followsTheWorkToThePoolWithContextPropagation() {
		try (WebApplication application = start(ContextApplication.class, PROPAGATE)) {
			assertCarried(application, HANDLERS);
		}
	}

	@Test
	void followsTheWorkToThePoolWithTheTaskDecorator() {
		try (WebApplication application = start(DecoratingApplication.class)) {
			assertCarried(application, HANDLERS);
		}
	}

	@Test
	@EnabledForJreRange(min = JRE.JAVA_21)
	void followsTheWorkToVirtualThreads() {
		try (WebApplication application = start(ContextApplication.class, PROPAGATE, VIRTUAL)) {
			assertCarried(application, HANDLERS);
			assertThat(application.bean(Sightings.class).at("elsewhere").thread().toString())
				.startsWith("VirtualThread[");
		}
	}

	@Test
	void isNotLeftOnAThreadOfThePool() {
		try (WebApplication application = start(ContextApplication.class, PROPAGATE)) {
			assertCarried(application, "/over/async-method");
			Sightings sightings = application.bean(Sightings.class);
			Thread worker = sightings.at("elsewhere").thread();
			sightings.forget();
			assertThat(application.post("/over/without-key", "{}").statusCode()).isEqualTo(200);
			assertThat(sightings.at("elsewhere").thread()).isSameAs(worker);
			assertThat(sightings.at("elsewhere").isClean()).isTrue();
		}
	}

	@Test
	void doesNotFollowTheWorkWithoutContextPropagation() {
		try (WebApplication application = start(ContextApplication.class)) {
			Sightings sightings = application.bean(Sightings.class);
			assertThat(List.of("/over/async-method", "/over/callable", "/over/mono")).allSatisfy((path) -> {
				sightings.forget();
				assertThat(post(application, path)).isEqualTo(200);
				sightings.at("handler").bound();
				assertThat(sightings.at("elsewhere").isClean()).isTrue();
			});
		}
	}

	@Test
	void followsTheWorkFromSchedulerToScheduler() {
		Hooks.enableAutomaticContextPropagation();
		try (WebApplication application = start(ContextApplication.class)) {
			assertCarried(application, "/over/mono", "/over/blocked-mono");
		}
		finally {
			Hooks.disableAutomaticContextPropagation();
		}
	}

	private static void assertCarried(WebApplication application, String... paths) {
		Sightings sightings = application.bean(Sightings.class);
		assertThat(paths).allSatisfy((path) -> {
			sightings.forget();
			assertThat(post(application, path)).isEqualTo(200);
			Sighting handler = sightings.at("handler");
			Sighting elsewhere = sightings.at("elsewhere");
			assertThat(elsewhere.thread()).isNotSameAs(handler.thread());
			assertThat(elsewhere.bound()).isSameAs(handler.bound());
		});
	}

	private static int post(WebApplication application, String path) {
		return application.post(path, "{}", "Idempotency-Key", UUID.randomUUID().toString()).statusCode();
	}

	private static WebApplication start(Class<?> source, String... properties) {
		return WebApplication.start(source, redis,
				Stream.of(ONE_THREAD, properties).flatMap(Arrays::stream).toArray(String[]::new));
	}

	@Configuration(proxyBeanMethods = false)
	@Import(ContextApplication.class)
	static class DecoratingApplication {

		@Bean
		ContextPropagatingTaskDecorator contextPropagatingTaskDecorator() {
			return new ContextPropagatingTaskDecorator();
		}

	}

}
