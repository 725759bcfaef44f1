package dev.idempotent.idempotency.web;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Callers who use the same keys at the same time.
 */
class CallersApartIntegrationTests {

	private static final int THREADS_PER_CALLER = 4;

	private static final int KEYS = 50;

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	private final List<String> keys = Stream.generate(() -> UUID.randomUUID().toString()).limit(KEYS).toList();

	@Test
	void runOncePerKeyAndNeverReceiveTheResponseOfAnother() throws Exception {
		ExecutorService threads = Executors.newCachedThreadPool();
		try (WebApplication application = WebApplication.start(Application.class, redis)) {
			List<Callable<Long>> callers = Stream.of("ada", "bob")
				.flatMap((caller) -> IntStream.range(0, THREADS_PER_CALLER)
					.mapToObj((thread) -> (Callable<Long>) () -> this.keys.stream()
						.filter((key) -> getsOnlyItsOwn(application, caller, key))
						.count()))
				.toList();
			long answers = 0;
			for (Future<Long> answered : threads.invokeAll(callers)) {
				answers += answered.get();
			}
			assertThat(answers).isGreaterThanOrEqualTo(2 * KEYS);
			assertThat(application.bean(Echo.class).runs()).isEqualTo(2 * KEYS);
		}
		finally {
			threads.shutdownNow();
		}
	}

	/**
	 * Returns whether the caller was answered; a concurrent duplicate must retry.
	 */
	private static boolean getsOnlyItsOwn(WebApplication application, String caller, String key) {
		HttpResponse<byte[]> response = application.post("/echo", "\"" + caller + "\"", "Idempotency-Key", key,
				"X-Caller", caller);
		assertThat(response.statusCode()).isIn(200, 409);
		if (response.statusCode() == 200) {
			assertThat(text(response)).isEqualTo("\"" + caller + "\" said " + caller);
		}
		return response.statusCode() == 200;
	}

	@RestController
	static class Echo {

		private final AtomicInteger runs = new AtomicInteger();

		int runs() {
			return this.runs.get();
		}

		@PostMapping("/echo")
		@Idempotent
		String echo(@RequestBody String body, @RequestHeader("X-Caller") String caller) {
			this.runs.incrementAndGet();
			return body + " said " + caller;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Echo.class)
	static class Application {

		@Bean
		IdempotencyScopeResolver scopeResolver() {
			return (request) -> request.getHeader("X-Caller");
		}

	}

}
