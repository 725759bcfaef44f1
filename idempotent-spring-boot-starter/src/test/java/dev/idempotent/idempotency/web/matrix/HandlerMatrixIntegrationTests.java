package dev.idempotent.idempotency.web.matrix;

import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.web.matrix.AsyncHandlers.ByServlet;
import dev.idempotent.idempotency.web.matrix.HandlerMatrixIntegrationTests.MatrixApplication.Runs;
import dev.idempotent.idempotency.web.matrix.ServletHandlers.Failures;
import dev.idempotent.idempotency.web.matrix.ServletHandlers.Streams;
import dev.idempotent.idempotency.web.matrix.ValueHandlers.Redirects;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.http.HttpServletRequest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.error.ErrorAttributeOptions;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.webmvc.error.DefaultErrorAttributes;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.util.StreamUtils;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.context.request.WebRequest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Every kind of handler in every flavour of application, over real HTTP: the first answer
 * is the answer of the same application without this library, and a retry gets what
 * docs/how-it-works.md says.
 */
@Tag("long")
@ParameterizedClass
@EnumSource(HandlerMatrixIntegrationTests.Flavour.class)
class HandlerMatrixIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@SuppressWarnings("NullAway.Init")
	private static WebApplication unprotected;

	@SuppressWarnings("NullAway.Init")
	private static WebApplication application;

	@SuppressWarnings("NullAway.Init")
	private static Runs runs;

	@Parameter
	@SuppressWarnings("NullAway.Init")
	Flavour flavour;

	private final String key = UUID.randomUUID().toString();

	@BeforeParameterizedClassInvocation
	static void start(Flavour flavour) {
		assumeTrue(flavour.isPossible(), "This JDK has no virtual threads");
		unprotected = flavour.start(redis, "idempotent.enabled=false");
		application = flavour.start(redis);
		runs = application.bean(Runs.class);
	}

	@AfterParameterizedClassInvocation
	static void stop(Flavour flavour) {
		if (flavour.isPossible()) {
			unprotected.close();
			application.close();
		}
	}

	@BeforeEach
	void resetRuns() {
		runs.reset();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			200 | POST | /text
			200 | POST | /echo
			202 | POST | /entity
			200 | POST | /object
			200 | POST | /nothing
			204 | POST | /no-content
			201 | POST | /created
			200 | POST | /bytes/65536
			200 | POST | /resource
			200 | POST | /file
			200 | POST | /input-stream/1000
			200 | POST | /caching
			200 | POST | /links
			200 | GET | /read
			200 | HEAD | /read
			200 | PUT | /put
			200 | PATCH | /patch
			204 | DELETE | /delete
			302 | POST | /redirect-view
			302 | POST | /redirect-name
			302 | POST | /send-redirect
			302 | POST | /write-and-redirect
			301 | POST | /redirect/301
			302 | POST | /redirect-and-keep/302
			303 | POST | /redirect-and-keep/303
			302 | POST | /redirect-and-return
			200 | POST | /forward-name/text
			200 | POST | /forward-name/callable
			202 | POST | /forward-by-dispatcher/entity
			200 | POST | /include
			200 | POST | /stream
			200 | POST | /writer
			200 | POST | /writer/type?type=text/plain;charset=UTF-8
			200 | POST | /writer/type?type=text/plain;charset=ISO-8859-1
			200 | POST | /writer/type?type=text/plain
			200 | POST | /writer/type?type=application/json
			200 | POST | /writer/encoding?encoding=UTF-8
			200 | POST | /writer/encoding?encoding=ISO-8859-1
			200 | POST | /writer/encoding?encoding=UTF-16
			200 | POST | /writer/late-type
			200 | POST | /writer/flushed
			200 | POST | /writer/closed
			200 | POST | /flushed-midway
			202 | POST | /header-after-body
			200 | POST | /reset
			200 | POST | /reset-buffer
			200 | POST | /length/1000
			200 | POST | /unstated-length/65536
			404 | POST | /entity/404
			400 | POST | /send-error/400
			410 | POST | /send-error/410
			410 | POST | /throw-status/410
			422 | POST | /throw-handled
			200 | POST | /callable
			404 | POST | /callable/404
			200 | POST | /callable/bytes/65536
			422 | POST | /callable/throw-handled
			200 | POST | /deferred/set-before
			202 | POST | /deferred/set-by-thread
			422 | POST | /deferred/error-handled
			200 | POST | /deferred/timeout-fallback
			200 | POST | /future
			422 | POST | /future/failed-handled
			200 | POST | /task
			200 | POST | /task/timeout-fallback
			200 | POST | /servlet-async/write
			200 | POST | /servlet-async/flush
			200 | POST | /servlet-async/write-to-original
			202 | POST | /servlet-async/complete/202
			200 | POST | /servlet-async/dispatch
			""")
	void replaysTheResponse(int status, String method, String path) {
		Answer first = assertUnchanged(status, method, path);
		Answer retry = send(application, method, path);
		assertThat(retry.isReplayed()).isTrue();
		assertThat(retry.unmarked()).isEqualTo(first.withoutJettysOwn());
		assertThat(runs.count()).isOne();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			500 | POST | /entity/500
			409 | POST | /send-error/409
			503 | POST | /send-error/503
			503 | POST | /throw-status/503
			500 | POST | /throw
			500 | POST | /write-and-throw
			500 | POST | /forward-name/throw
			500 | POST | /forward-by-dispatcher/throw
			503 | POST | /callable/503
			500 | POST | /callable/throw
			500 | POST | /deferred/error
			500 | POST | /future/failed
			503 | POST | /servlet-async/complete/503
			500 | POST | /servlet-async/throw
			""")
	void runsAgainAfterAFailure(int status, String method, String path) {
		assertUnchanged(status, method, path);
		assertUnchanged(status, method, path);
		assertThat(runs.count()).isEqualTo(2);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			200 | POST | /bytes/65537
			200 | POST | /input-stream/300000
			200 | POST | /length/300000
			200 | POST | /unstated-length/300000
			200 | POST | /callable/bytes/300000
			200 | POST | /streaming-body
			202 | POST | /streaming-body/entity
			200 | POST | /sse
			200 | POST | /emitter
			200 | POST | /emitter/ndjson
			200 | POST | /events
			""")
	void neverRunsAgainIfTheResponseIsNotKept(int status, String method, String path) {
		assertUnchanged(status, method, path);
		Answer retry = send(application, method, path);
		assertThat(retry.status()).isEqualTo(409);
		assertThat(retry.body()).contains("urn:problem-type:idempotency:response-not-kept");
		assertThat(runs.count()).isOne();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			503 | POST | /deferred/timeout
			503 | POST | /task/timeout
			500 | POST | /servlet-async/timeout
			""")
	void answers409WhileTimedOutWorkMayStillRun(int status, String method, String path) {
		assertUnchanged(status, method, path);
		Answer retry = send(application, method, path);
		assertThat(retry.status()).isEqualTo(409);
		assertThat(retry.body()).contains("urn:problem-type:idempotency:in-progress");
		assertThat(runs.count()).isOne();
	}

	private Answer assertUnchanged(int status, String method, String path) {
		Answer expected = send(unprotected, method, path);
		Answer first = send(application, method, path);
		assertThat(expected.status()).isEqualTo(status);
		assertThat(first.unframed()).isEqualTo(expected.unframed());
		return first;
	}

	private Answer send(WebApplication to, String method, String path) {
		return Answer.of(to.send(to.request(path)
			.header("Idempotency-Key", this.key)
			.header("Accept-Encoding", "gzip")
			.header("Content-Type", "application/json")
			.method(method, BodyPublishers.ofString("{\"item\":1}"))
			.build()));
	}

	/**
	 * Other features that an application may use.
	 */
	enum Flavour {

		PLAIN(MatrixApplication.class, "server.compression.enabled=false"),

		SECURED(SecuredApplication.class, WebApplication.WITH_SECURITY),

		COMPRESSED(MatrixApplication.class, "server.compression.enabled=true"),

		ON_VIRTUAL_THREADS(MatrixApplication.class, "spring.threads.virtual.enabled=true"),

		ON_JETTY(DrainedApplication.class, "test.container=jetty");

		/**
		 * The longest body that these applications store, in bytes.
		 */
		static final int MAX_RESPONSE_BODY = 64 * 1024;

		private static final int FIRST_JAVA_WITH_VIRTUAL_THREADS = 21;

		private final Class<?> source;

		private final String property;

		Flavour(Class<?> source, String property) {
			this.source = source;
			this.property = property;
		}

		boolean isPossible() {
			return this != ON_VIRTUAL_THREADS || Runtime.version().feature() >= FIRST_JAVA_WITH_VIRTUAL_THREADS;
		}

		WebApplication start(RealRedis redis, String... more) {
			List<String> properties = new ArrayList<>(List.of(more));
			properties.add(this.property);
			properties.add(WebApplication.WITH_OPERATIONS);
			// Else the port, which is another one in the other application, is in
			// Location.
			properties.add("server.tomcat.use-relative-redirects=true");
			// Handlers may still run after a time-out.
			properties.add("server.shutdown=immediate");
			// Else Tomcat adds Connection: close to every hundredth response.
			properties.add("server.tomcat.max-keep-alive-requests=-1");
			properties.add("server.compression.min-response-size=1B");
			properties.add("idempotent.web.max-response-body=" + MAX_RESPONSE_BODY + "B");
			return WebApplication.start(this.source, redis, properties.toArray(String[]::new));
		}

		@Configuration(proxyBeanMethods = false)
		@Import(MatrixApplication.class)
		static class SecuredApplication {

			@Bean
			SecurityFilterChain securityFilterChain(HttpSecurity http) {
				return http.csrf((csrf) -> csrf.disable())
					.authorizeHttpRequests((requests) -> requests.anyRequest().permitAll())
					.build();
			}

		}

		/**
		 * Jetty closes a connection whose request has not been read to its end, and the
		 * client may lose the response with it.
		 */
		@Configuration(proxyBeanMethods = false)
		@Import(MatrixApplication.class)
		static class DrainedApplication {

			@Bean
			FilterRegistrationBean<Filter> drain() {
				return new FilterRegistrationBean<>((request, response, chain) -> {
					chain.doFilter(request, response);
					if (!request.isAsyncStarted()) {
						drain(request);
					}
				});
			}

			private static void drain(ServletRequest request) throws IOException {
				try {
					StreamUtils.drain(request.getInputStream());
				}
				catch (IllegalStateException ex) {
					// A handler has read the body through the reader.
				}
			}

		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ MatrixApplication.Runs.class, ValueHandlers.class, Redirects.class, ServletHandlers.class, Failures.class,
			Failures.Advice.class, AsyncHandlers.class, ByServlet.class, Streams.class })
	static class MatrixApplication {

		@Bean
		DefaultErrorAttributes timelessErrorAttributes() {
			return new DefaultErrorAttributes() {
				@Override
				public Map<String, Object> getErrorAttributes(WebRequest request, ErrorAttributeOptions options) {
					Map<String, Object> attributes = super.getErrorAttributes(request, options);
					attributes.remove("timestamp");
					return attributes;
				}
			};
		}

		/**
		 * Counts the requests that reach a handler, behind the claim of their keys.
		 */
		@ControllerAdvice
		static class Runs {

			private final AtomicInteger count = new AtomicInteger();

			int count() {
				return this.count.get();
			}

			void reset() {
				this.count.set(0);
			}

			@ModelAttribute
			void count(HttpServletRequest request) {
				if (request.getDispatcherType() == DispatcherType.REQUEST) {
					this.count.incrementAndGet();
				}
			}

		}

	}

}
