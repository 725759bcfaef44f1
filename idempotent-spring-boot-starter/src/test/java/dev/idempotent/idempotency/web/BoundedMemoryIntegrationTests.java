package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

import dev.idempotent.idempotency.web.HostileBodiesIntegrationTests.HostileJson;
import dev.idempotent.testing.ForkedApplication;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application with little memory, in a JVM that ends at its first
 * {@link OutOfMemoryError}. The system property {@code hostile.requests} says how many
 * requests it has to stand.
 */
@Tag("long")
class BoundedMemoryIntegrationTests {

	private static final int CLIENTS = 50;

	private static final int REQUESTS = Integer.getInteger("hostile.requests", 500);

	private static final List<String> PATHS = List.of("/merged", "/orders", "/derived/1", "/answers/200");

	/**
	 * Together more than the application has.
	 */
	private static final int UPLOAD = 10 * 1024 * 1024;

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	private final HttpClient client = HttpClient.newHttpClient();

	@Test
	void isEnoughForFiftyHostileClients() throws Exception {
		try (ForkedApplication application = ForkedApplication.start(Application.class, redis, "256m",
				WebApplication.WITH_SECURITY)) {
			ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
			try {
				List<Callable<Void>> attacks = IntStream.range(0, CLIENTS)
					.<Callable<Void>>mapToObj((client) -> () -> attack(application, client))
					.toList();
				for (Future<Void> attacked : clients.invokeAll(attacks)) {
					attacked.get();
				}
			}
			finally {
				clients.shutdownNow();
			}
			assertThat(post(application, "/merged", BodyPublishers.ofString("{}"))).isEqualTo(200);
		}
	}

	private Void attack(ForkedApplication application, int client) throws IOException, InterruptedException {
		List<byte[]> documents = List.copyOf(HostileJson.documents().values());
		for (int i = client; i < client + REQUESTS / CLIENTS; i++) {
			BodyPublisher document = BodyPublishers.ofByteArray(documents.get(i % documents.size()));
			// 503 if the machine is so slow that a document got no permit within ten
			// seconds.
			assertThat(post(application, PATHS.get(i % PATHS.size()), document))
				.matches((status) -> status < 500 || status == 503);
		}
		BodyPublisher upload = BodyPublishers.fromPublisher(BodyPublishers.ofInputStream(Zeros::new), UPLOAD);
		assertThat(post(application, "/uploads", upload)).isEqualTo(200);
		return null;
	}

	private int post(ForkedApplication application, String path, BodyPublisher body)
			throws IOException, InterruptedException {
		HttpRequest request = HttpRequest.newBuilder(application.uri(path))
			.header("Content-Type", "application/json")
			.header("Idempotency-Key", UUID.randomUUID().toString())
			.POST(body)
			.build();
		return this.client.send(request, BodyHandlers.discarding()).statusCode();
	}

	private static final class Zeros extends InputStream {

		private int left = UPLOAD;

		@Override
		public int read() {
			return (this.left-- > 0) ? 0 : -1;
		}

		@Override
		public int read(byte[] target, int offset, int length) {
			int read = Math.min(length, this.left);
			this.left -= read;
			return (read > 0) ? read : -1;
		}

	}

	@RestController
	static class Uploads {

		@PostMapping("/uploads")
		long read(InputStream body) throws IOException {
			return body.transferTo(OutputStream.nullOutputStream());
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ OperationsApplication.class, Uploads.class })
	static class Application {

		@Bean
		SecurityFilterChain everybody(HttpSecurity http) {
			return http.csrf((csrf) -> csrf.disable()).build();
		}

		@Bean
		IdempotencyScopeResolver scopeResolver() {
			return (request) -> "guests";
		}

	}

}
