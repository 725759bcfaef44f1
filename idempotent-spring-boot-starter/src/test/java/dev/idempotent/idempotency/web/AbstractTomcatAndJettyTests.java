package dev.idempotent.idempotency.web;

import java.net.http.HttpResponse;
import java.util.UUID;
import java.util.stream.Stream;

import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Runs the tests of a subclass on Tomcat, and on Jetty with {@code -Plong}. The subclass
 * starts its application before.
 */
@Tag("containers")
@ParameterizedClass
@MethodSource("dev.idempotent.idempotency.web.AbstractTomcatAndJettyTests#containers")
public abstract class AbstractTomcatAndJettyTests {

	@RegisterExtension
	protected static final RealRedis redis = RealRedis.shared();

	@SuppressWarnings("NullAway.Init")
	protected static WebApplication application;

	@Parameter
	@SuppressWarnings("NullAway.Init")
	protected String container;

	protected final String key = UUID.randomUUID().toString();

	static Stream<String> containers() {
		return Stream.of(System.getProperty("test.containers", "tomcat"));
	}

	/**
	 * Starts an application with an H2 database of its own.
	 * @param properties further properties, as {@code name=value}
	 */
	protected static void startWithDatabase(Class<?> source, String container, String... properties) {
		start(source, container, Stream
			.concat(Stream.of(WebApplication.WITH_DATABASE, "spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID()),
					Stream.of(properties))
			.toArray(String[]::new));
	}

	protected static void start(Class<?> source, String container, String... properties) {
		application = WebApplication.start(source, redis,
				Stream.concat(Stream.of("test.container=" + container), Stream.of(properties)).toArray(String[]::new));
	}

	@AfterParameterizedClassInvocation
	static void stop() {
		application.close();
	}

	/**
	 * Posts an empty object with the key of this test.
	 * @param headers names and values in turn
	 */
	protected final HttpResponse<byte[]> post(String path, String... headers) {
		return application.post(path, "{}",
				Stream.concat(Stream.of("Idempotency-Key", this.key), Stream.of(headers)).toArray(String[]::new));
	}

	protected static boolean isReplay(HttpResponse<byte[]> response) {
		return response.headers().firstValue("Idempotent-Replayed").isPresent();
	}

}
