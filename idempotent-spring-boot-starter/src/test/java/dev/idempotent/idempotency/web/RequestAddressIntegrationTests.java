package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import dev.idempotent.testing.RawConnection;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Addresses that clients send requests to: a host and a prefix, as gateways forward them,
 * or the address of an instance.
 */
class RequestAddressIntegrationTests {

	private static final String HOST = "X-Forwarded-Host";

	private static final String PREFIX = "X-Forwarded-Prefix";

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	private static final Map<String, WebApplication> applications = new ConcurrentHashMap<>();

	private String body = json();

	private final String key = UUID.randomUUID().toString();

	@AfterAll
	static void stop() {
		applications.values().forEach(WebApplication::close);
		applications.clear();
	}

	@ParameterizedTest
	@CsvSource({ "none, tomcat", "framework, tomcat", "native, tomcat", "none, jetty", "framework, jetty",
			"native, jetty" })
	void keepTwoTenantsApartWhereTheFingerprintIsTheKey(String strategy, String container) throws IOException {
		WebApplication application = shared(strategy, container);
		assertThat(text(merged(application, HOST, "a.example.com"))).isEqualTo("run 1");
		assertThat(text(merged(application, HOST, "b.example.com"))).isEqualTo("run 2");
		assertThat(text(merged(application, HOST, "A.example.com:8443, proxy.example.com"))).isEqualTo("run 1");
		assertThat(rawMerged(application, "b.example.com:8080")).endsWith("run 2");
		assertThat(text(merged(application, PREFIX, "/a"))).isEqualTo("run 3");
		assertThat(text(merged(application, PREFIX, "/b/"))).isEqualTo("run 4");
		assertThat(text(merged(application, PREFIX, "/b"))).isEqualTo("run 4");
		assertThat(text(application.post("/either", this.body, HOST, "a.example.com"))).isEqualTo("run 5");
		assertThat(text(application.post("/either", this.body, HOST, "b.example.com"))).isEqualTo("run 6");
	}

	@Test
	void areReadOfTheStandardHeader() {
		WebApplication application = shared("none", "tomcat");
		assertThat(text(merged(application, HOST, "a.example.com"))).isEqualTo("run 1");
		assertThat(text(merged(application, "Forwarded", "for=10.0.0.1;Host=\"a.example.com:443\", host=proxy.io")))
			.isEqualTo("run 1");
		assertThat(text(merged(application, "Forwarded", "for=10.0.0.1, host=b.example.com"))).isEqualTo("run 2");
	}

	@Test
	void areNotThoseOfAnInstance() throws IOException {
		WebApplication one = shared("none", "tomcat");
		try (WebApplication other = start("none")) {
			assertThat(text(merged(one))).isEqualTo("run 1");
			for (String host : new String[] { "localhost", "instance-7:8080", "[::1]:8080", "10.1.2.3" }) {
				assertThat(rawMerged(other, host)).as(host).endsWith("run 1");
			}
			assertThat(other.bean(Operations.class).runs()).isZero();
		}
	}

	/**
	 * Jetty itself replaces the host.
	 */
	@ParameterizedTest
	@CsvSource({ "none, tomcat", "framework, tomcat", "native, tomcat", "none, jetty", "framework, jetty" })
	void areThoseOfTheRequestBehindAGatewayThatForwardsNone(String strategy, String container) throws IOException {
		WebApplication application = shared(strategy, container);
		int runs = 0;
		for (String header : new String[] { "X-Forwarded-Host: gateway", "X-Forwarded-Host: unknown",
				"X-Forwarded-Host: 10.0.0.7:8080", "Forwarded: host=_hidden" }) {
			this.body = json();
			for (String host : new String[] { "a.example.com", "b.example.com" }) {
				runs++;
				assertThat(rawMerged(application, host, header)).as(header).endsWith("run " + runs);
				assertThat(rawMerged(application, host + ":8080", header)).as(header).endsWith("run " + runs);
			}
		}
	}

	@ParameterizedTest
	@CsvSource({ "none, tomcat", "framework, tomcat", "native, tomcat", "none, jetty", "framework, jetty",
			"native, jetty" })
	void areThoseForwardedWhicheverInstanceGetsTheRetry(String strategy, String container) throws IOException {
		WebApplication application = shared(strategy, container);
		int runs = 0;
		for (String forwarded : new String[] { "shop", "10.0.0.7:8080", "www.example.com" }) {
			runs++;
			for (String host : new String[] { "instance-7:8080", "[::1]:8080", "10.1.2.3", "localhost" }) {
				assertThat(rawMerged(application, host, HOST + ": " + forwarded)).as(forwarded + host)
					.endsWith("run " + runs);
			}
		}
		assertThat(rawMerged(application, "7.instances.internal", HOST + ": www.example.com")).endsWith("run 3");
		assertThat(rawMerged(application, "instance-7")).endsWith("run 4");
	}

	@Test
	void areTheForwardedOnesIfJettyAppliesThem() throws IOException {
		WebApplication application = shared("native", "jetty");
		assertThat(rawMerged(application, "a.example.com", HOST + ": gateway")).endsWith("run 1");
		assertThat(rawMerged(application, "b.example.com", HOST + ": gateway")).endsWith("run 1");
		assertThat(rawMerged(application, "b.example.com")).endsWith("run 2");
	}

	@ParameterizedTest
	@ValueSource(strings = { "tomcat", "jetty" })
	void areReadOfAllLinesOfTheStandardHeader(String container) throws IOException {
		WebApplication application = shared("native", container);
		for (int run = 1; run <= 2; run++) {
			assertThat(rawMerged(application, "gateway", "Forwarded: for=203.0.113.1;proto=https",
					"Forwarded: for=10.0.0.1;host=" + run + ".example.com"))
				.endsWith("run " + run);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "tomcat", "jetty" })
	void areNotTheSessionOfAClientWithoutCookies(String container) {
		try (WebApplication application = start("none", "test.container=" + container,
				"server.servlet.session.cookie.name=" + (container.equals("tomcat") ? "sid" : "JSESSIONID"))) {
			for (String session : new String[] { "", ";jsessionid=1", ";jsessionid=2", ";sid=1" }) {
				boolean other = container.equals("jetty") && session.startsWith(";sid");
				assertThat(text(application.post("/merged" + session, this.body))).as(session)
					.isEqualTo(other ? "run 2" : "run 1");
			}
		}
	}

	@Test
	void letARetryWithAKeyTakeAnotherPrefix() {
		WebApplication application = shared("framework", "tomcat");
		HttpResponse<byte[]> first = application.post("/short", this.body, "Idempotency-Key", this.key, PREFIX, "/v1");
		HttpResponse<byte[]> retry = application.post("/short", this.body, "Idempotency-Key", this.key, PREFIX,
				"/v2/shop");
		assertThat(text(retry)).isEqualTo(text(first)).isEqualTo("run 1");
		HttpResponse<byte[]> direct = application.post("/short", this.body, "Idempotency-Key", this.key);
		assertThat(text(direct)).isEqualTo("run 1");
		assertThat(application.post("/held", this.body, "Idempotency-Key", this.key).statusCode()).isEqualTo(422);
	}

	@Test
	void letARetryWithAKeyReachAnInstanceWithAnotherContextPath() {
		WebApplication one = shared("none", "tomcat");
		try (WebApplication other = start("none", "server.servlet.context-path=/shop")) {
			assertThat(text(one.post("/short", this.body, "Idempotency-Key", this.key))).isEqualTo("run 1");
			for (String spelling : new String[] { "/shop", "/sh%6Fp" }) {
				assertThat(text(other.post(spelling + "/short", this.body, "Idempotency-Key", this.key)))
					.isEqualTo("run 1");
			}
			assertThat(other.bean(Operations.class).runs()).isZero();
			assertThat(text(other.post("/shop/merged", this.body))).isEqualTo("run 1");
			assertThat(text(other.post("/sh%6Fp/merged", this.body))).isEqualTo("run 1");
			assertThat(text(one.post("/merged", this.body))).isEqualTo("run 2");
		}
	}

	/**
	 * An application of all tests, whose handlers have not run yet.
	 */
	private static WebApplication shared(String strategy, String container) {
		WebApplication application = applications.computeIfAbsent(strategy + " on " + container,
				(name) -> start(strategy, "test.container=" + container));
		application.bean(Operations.class).reset();
		return application;
	}

	private static WebApplication start(String strategy, String... properties) {
		String[] all = Stream
			.concat(Stream.of("idempotent.namespace=addresses", "server.forward-headers-strategy=" + strategy),
					Stream.of(properties))
			.toArray(String[]::new);
		return WebApplication.start(Application.class, redis, all);
	}

	private HttpResponse<byte[]> merged(WebApplication application, String... headers) {
		return application.post("/merged", this.body, headers);
	}

	private static String json() {
		return '"' + UUID.randomUUID().toString() + '"';
	}

	private String rawMerged(WebApplication application, String... headers) throws IOException {
		try (RawConnection connection = RawConnection.to(application)) {
			return connection
				.send("POST /merged HTTP/1.1\r\nHost: " + String.join("\r\n", headers)
						+ "\r\nConnection: close\r\nContent-Type: application/json" + "\r\nContent-Length: "
						+ this.body.length() + "\r\n\r\n" + this.body)
				.answer();
		}
	}

	@Configuration(proxyBeanMethods = false)
	@Import(OperationsApplication.class)
	static class Application {

		@Bean
		IdempotencyScopeResolver scopeResolver() {
			return (request) -> "everyone";
		}

	}

}
