package dev.idempotent.autoconfigure.actuate;

import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.test.InMemoryIdempotencyStore;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what the console serves, in an application under a context path.
 */
class ConsoleEndpointTests {

	private static final Pattern DATA = Pattern
		.compile("<script type=\"application/json\" id=\"console\">(.*?)</script>", Pattern.DOTALL);

	@RegisterExtension
	static final RunningApplication application = RunningApplication
		.of(() -> start("management.endpoints.web.exposure.include=console,idempotency,health,metrics,info",
				"server.servlet.context-path=/shop", "spring.application.name=</script><!--<script>"));

	@Test
	void servesAPageThatNoOtherPageCanFrameOrKeep() {
		HttpResponse<byte[]> response = get("/shop/actuator/console");
		assertThat(response.headers().allValues("Content-Type")).containsExactly("text/html;charset=UTF-8");
		assertThat(response.headers().allValues("X-Frame-Options")).containsExactly("DENY");
		assertThat(response.headers().allValues("X-Content-Type-Options")).containsExactly("nosniff");
		assertThat(response.headers().allValues("Referrer-Policy")).containsExactly("no-referrer");
		assertThat(response.headers().allValues("Cache-Control")).containsExactly("no-store");
	}

	@Test
	void allowsTheScriptAndTheStyleOfThePageOnly() throws GeneralSecurityException {
		HttpResponse<byte[]> response = get("/shop/actuator/console");
		String page = text(response);
		String policy = "default-src 'none'; style-src '" + hash(element(page, "style")) + "'; script-src '"
				+ hash(element(page, "script"))
				+ "'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'";
		assertThat(response.headers().allValues("Content-Security-Policy"))
			.containsExactly(policy + "; frame-ancestors 'none'");
		assertThat(page).contains("<meta http-equiv=\"Content-Security-Policy\" content=\"" + policy + "\">");
		assertThat(page).containsOnlyOnce("<style").doesNotContainPattern("\\son[a-z]+=").doesNotContain("innerHTML");
	}

	@Test
	void requestsNothingFromOtherHosts() {
		assertThat(text(get("/shop/actuator/console")).replace("http://www.w3.org/2000/svg", ""))
			.doesNotContain("http://", "https://", "src=");
	}

	@Test
	void tellsThePageWhatIsExposedAndItsPath() {
		JsonNode data = data(get("/shop/actuator/console"));
		assertThat(data.get("path").asString()).isEqualTo("/actuator/console");
		assertThat(data.get("endpoints").propertyNames()).containsExactly("health", "idempotency", "metrics");
		assertThat(data.at("/endpoints/idempotency/path").asString()).isEqualTo("/actuator/idempotency");
		assertThat(data.at("/endpoints/idempotency/write").asBoolean()).isTrue();
		assertThat(data.at("/endpoints/health/write").asBoolean(true)).isFalse();
		assertThat(data.get("csrf").isNull()).isTrue();
	}

	@Test
	void writesNamesSoThatNoneEndsTheElement() {
		HttpResponse<byte[]> response = get("/shop/actuator/console");
		assertThat(data(response).get("application").asString()).endsWith("</script><!--<script>");
		Matcher matcher = DATA.matcher(text(response));
		assertThat(matcher.find()).isTrue();
		assertThat(matcher.group(1)).doesNotContain("<");
	}

	private static HttpResponse<byte[]> get(String path) {
		HttpResponse<byte[]> response = application.send(application.request(path).GET().build());
		assertThat(response.statusCode()).isEqualTo(200);
		return response;
	}

	static JsonNode data(HttpResponse<byte[]> response) {
		Matcher matcher = DATA.matcher(text(response));
		assertThat(matcher.find()).isTrue();
		return JsonMapper.shared().readTree(matcher.group(1));
	}

	private static String element(String page, String name) {
		String start = "<" + name + ">";
		assertThat(page).containsOnlyOnce(start);
		int from = page.indexOf(start) + start.length();
		return page.substring(from, page.indexOf("</" + name + ">", from));
	}

	private static String hash(String content) throws GeneralSecurityException {
		byte[] digest = MessageDigest.getInstance("SHA-256").digest(content.getBytes(StandardCharsets.UTF_8));
		return "sha256-" + Base64.getEncoder().encodeToString(digest);
	}

	static WebApplication start(String... properties) {
		List<String> all = new ArrayList<>(List.of("management.health.redis.enabled=false"));
		all.addAll(List.of(properties));
		return WebApplication.start(Application.class, List::of, all.toArray(String[]::new));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		IdempotencyStore store() {
			return new InMemoryIdempotencyStore(InstantSource.system());
		}

	}

}
