package dev.idempotent.idempotency.web.webhook;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.HexFormat;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The example of docs/messages.md, run over HTTP.
 */
class WebhooksIntegrationTests {

	private static final Path GUIDE = Path.of("../docs/messages.md");

	private static final Path SOURCES = Path.of("src/test/java/dev/idempotent/idempotency/web/webhook");

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication application = RunningApplication
		.of(() -> WebApplication.start(Application.class, redis, "webhooks.secret=secret"));

	private final Payments payments = application.bean(Payments.class);

	private final String id = UUID.randomUUID().toString();

	@Test
	void runOncePerEventEvenIfDeliveriesDiffer() {
		assertThat(deliver(1, "secret").statusCode()).isEqualTo(204);
		HttpResponse<byte[]> again = deliver(2, "secret");
		assertThat(again.statusCode()).isEqualTo(204);
		assertThat(again.headers().firstValue("Idempotent-Replayed")).hasValue("true");
		assertThat(this.payments.settled()).containsOnlyOnce(this.id);
	}

	@Test
	void doNotClaimTheKeyForAForgedDelivery() {
		HttpResponse<byte[]> forged = deliver(1, "guess");
		assertThat(forged.statusCode()).isEqualTo(401);
		assertThat(this.payments.settled()).doesNotContain(this.id);
		assertThat(deliver(2, "secret").statusCode()).isEqualTo(204);
		assertThat(deliver(3, "guess").statusCode()).isEqualTo(401);
		assertThat(this.payments.settled()).containsOnlyOnce(this.id);
	}

	@ParameterizedTest
	@CsvSource({ "400, 400", "422, 422", "401, 204", "403, 204", "409, 204", "503, 204" })
	void keepTheirKeyOnlyIfTheResponseIsStored(int first, int then) {
		String path = "/checked-by-the-handler/" + first;
		assertThat(application.post(path, body(1), "X-Signature", "no").statusCode()).isEqualTo(first);
		assertThat(application.post(path, body(2), "X-Signature", "yes").statusCode()).isEqualTo(then);
	}

	@Test
	void matchTheCodeInTheGuide() throws IOException {
		String guide = Files.readString(GUIDE);
		String chapter = guide.substring(guide.indexOf("\n## Webhooks\n"));
		String sources = words(Stream.of("PaymentWebhook", "WebhookSignatures")
			.map(WebhooksIntegrationTests::source)
			.reduce("", String::concat));
		assertThat(Pattern.compile("```java\n(.*?)```", Pattern.DOTALL).matcher(chapter).results()).hasSize(2)
			.allSatisfy((example) -> assertThat(sources).contains(words(example.group(1))));
	}

	private HttpResponse<byte[]> deliver(int attempt, String secret) {
		String body = body(attempt);
		return application.post("/webhooks/payments", body, "X-Signature", signature(body, secret));
	}

	private String body(int attempt) {
		return "{\"id\":\"%s\",\"paymentId\":\"%s\",\"attempt\":%d}".formatted(this.id, this.id, attempt);
	}

	private static String signature(String body, String secret) {
		try {
			Mac mac = Mac.getInstance("HmacSHA256");
			mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
			return HexFormat.of().formatHex(mac.doFinal(body.getBytes(StandardCharsets.UTF_8)));
		}
		catch (GeneralSecurityException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static String source(String type) {
		try {
			return Files.readString(SOURCES.resolve(type + ".java"));
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static String words(String code) {
		return code.replaceAll("\\s+", " ").strip();
	}

	@RestController
	static class CheckedByTheHandler {

		@PostMapping("/checked-by-the-handler/{refusal}")
		@Idempotent(key = "#body.id", ignore = "*", name = "checked-by-the-handler.receive")
		ResponseEntity<Void> receive(@PathVariable int refusal, @RequestHeader("X-Signature") String signature) {
			return ResponseEntity.status(signature.equals("yes") ? 204 : refusal).build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ PaymentWebhook.class, WebhookSignatures.class, CheckedByTheHandler.class })
	static class Application {

		@Bean
		Payments payments() {
			return new Payments();
		}

	}

}
