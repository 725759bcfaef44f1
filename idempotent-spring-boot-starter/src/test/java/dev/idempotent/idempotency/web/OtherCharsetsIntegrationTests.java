package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.util.Map;
import java.util.UUID;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.testing.RawConnection;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests whose texts differ are different requests, in whichever charset the
 * application reads them: none gets the response to the other.
 */
class OtherCharsetsIntegrationTests extends AbstractTomcatAndJettyTests {

	private static final String FORM = "application/x-www-form-urlencoded";

	private static final String TEXT = "text/plain";

	private static final String LATIN = "application/json;charset=ISO-8859-1";

	@BeforeParameterizedClassInvocation
	static void start(String container) {
		start(Application.class, container, "server.tomcat.uri-encoding=ISO-8859-1");
	}

	/**
	 * In ISO-8859-1, the bytes E9 and E8 are two letters, and C3 A9 are others.
	 */
	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			/query?name=%E9       | /query?name=%E8
			/query?name=%E9       | /query?name=%25E9
			/query?name=%E9       | /query?name=%C3%A9
			/query?name=%FF       | /query?name=%EF%BF%BD
			/query?name=x&%E9=1   | /query?name=x&%E8=1
			/query?name=\u00e9    | /query?name=\u00e8
			/query?name=%zz%41    | /query?name=%25zz%2541
			/path/%E9             | /path/%E8
			/path/%E9             | /path/%25E9
			/path/\u00e9          | /path/\u00e8
			/derived?name=%E9     | /derived?name=%E8
			/derived?name=%E9     | /derived?name=%25E9
			/derived/%E9?name=x   | /derived/%E8?name=x
			""")
	void areTwoRequestsIfTheirUrlsDiffer(String one, String other) throws IOException {
		assertTwoRequests(post(one, TEXT, ""), post(other, TEXT, ""));
	}

	@Test
	void areOneRequestInTwoSpellings() throws IOException {
		assertThat(post("/query?name=%c3%a9x+y", TEXT, "")).startsWith("HTTP/1.1 200");
		assertThat(post("/q%75ery?n%61me=%C3%A9%78%20y", TEXT, "")).contains("Idempotent-Replayed: true");
	}

	@Test
	void areTwoRequestsIfTheirFormsDiffer() throws IOException {
		String latin = FORM + ";charset=ISO-8859-1";
		assertTwoRequests(post("/form", latin, "name=%E9"), post("/form", latin, "name=%E8"));
		assertTwoRequests(post("/form", FORM, "name=%E9"), post("/form", FORM, "name=%E8"));
	}

	/**
	 * The bytes C3 A9 are the letter with an accent in UTF-8 only.
	 */
	@ParameterizedTest
	@CsvSource({ "/json", "/body" })
	void areTwoRequestsIfTheirJsonDiffers(String path) throws IOException {
		assertTwoRequests(post(path, LATIN, "{\"id\":\"\u00c3\u00a9\"}"), post(path, LATIN, "{\"id\":\"\\u00e9\"}"));
	}

	@Test
	void areTwoRequestsIfTheirJsonDiffersInTheEncodingOfTheRequest() throws IOException {
		assertTwoRequests(post("/json?encoding=ISO-8859-1", "application/json", "{\"id\":\"\u00c3\u00a9\"}"),
				post("/json?encoding=ISO-8859-1", "application/json", "{\"id\":\"\\u00e9\"}"));
	}

	/**
	 * Two different requests: each runs or is refused.
	 */
	private static void assertTwoRequests(String one, String other) {
		assertThat(one + other).doesNotContain("Idempotent-Replayed", "HTTP/1.1 500");
	}

	private String post(String url, String type, String body) throws IOException {
		String path = url + (url.contains("?") ? "&" : "?") + "test=" + this.key;
		try (RawConnection connection = RawConnection.to(application)) {
			return connection
				.send("POST " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: " + type
						+ "\r\nContent-Length: " + body.length() + "\r\n\r\n" + body)
				.answer();
		}
	}

	@RestController
	static class Handlers {

		@PostMapping("/query")
		@Idempotent(from = KeySource.FINGERPRINT, retention = "1h", name = "handlers.query")
		String query(HttpServletRequest request) {
			return request.getQueryString() + ' ' + UUID.randomUUID();
		}

		@PostMapping("/path/{name}")
		@Idempotent(from = KeySource.FINGERPRINT, retention = "1h", name = "handlers.path")
		String path(@PathVariable String name) {
			return name + ' ' + UUID.randomUUID();
		}

		@PostMapping("/form")
		@Idempotent(from = KeySource.FINGERPRINT, retention = "1h", name = "handlers.form")
		String form(@RequestParam String name) {
			return name + ' ' + UUID.randomUUID();
		}

		@PostMapping("/json")
		@Idempotent(from = KeySource.FINGERPRINT, retention = "1h", name = "handlers.json")
		String json(@RequestBody Map<String, Object> body) {
			return body.get("id") + " " + UUID.randomUUID();
		}

		@PostMapping("/derived")
		@Idempotent(key = "#query['name'] + #query['test']", ignore = "*", name = "handlers.derived")
		String derived(@RequestParam String name) {
			return name + ' ' + UUID.randomUUID();
		}

		@PostMapping("/derived/{name}")
		@Idempotent(key = "#path['name'] + #query['test']", ignore = "*", name = "handlers.derived-from-path")
		String derivedFromPath(@PathVariable String name) {
			return name + ' ' + UUID.randomUUID();
		}

		@PostMapping("/body")
		@Idempotent(key = "#body['id'] + #query['test']", ignore = "*", name = "handlers.body")
		String body(@RequestBody Map<String, Object> body) {
			return body.get("id") + " " + UUID.randomUUID();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Handlers.class)
	static class Application {

		@Bean
		IdempotencyScopeResolver scopeResolver() {
			return (request) -> "everyone";
		}

		@Bean
		Filter encoding() {
			return (request, response, chain) -> {
				if (String.valueOf(((HttpServletRequest) request).getQueryString()).contains("encoding=")) {
					request.setCharacterEncoding("ISO-8859-1");
				}
				chain.doFilter(request, response);
			};
		}

	}

}
