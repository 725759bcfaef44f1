package dev.idempotent.idempotency.web;

import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.OnPending;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests with {@code spring.threads.virtual.enabled}.
 */
@EnabledForJreRange(min = JRE.JAVA_21)
class VirtualThreadsIntegrationTests {

	private static final String KEY = "Idempotency-Key";

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication application = RunningApplication.of(VirtualThreadsIntegrationTests::start)
		.resetting(Handlers.class, Handlers::reset);

	private final Handlers handlers = application.bean(Handlers.class);

	@ParameterizedTest
	@ValueSource(strings = { "/lease", "/transaction" })
	void runAHandlerAndReplayItsResponse(String path) {
		String key = UUID.randomUUID().toString();
		HttpResponse<byte[]> first = application.post(path, "{}", KEY, key);
		HttpResponse<byte[]> retry = application.post(path, "{}", KEY, key);
		assertThat(first.statusCode()).isEqualTo(200);
		assertThat(retry.body()).isEqualTo(first.body());
		assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");
		assertThat(this.handlers.runs()).isOne();
		assertThat(this.handlers.threads()).singleElement().asString().startsWith("VirtualThread[");
	}

	@ParameterizedTest
	@ValueSource(strings = { "/lease", "/transaction" })
	void runOneOfManyConcurrentDuplicates(String path) {
		String key = UUID.randomUUID().toString();
		List<CompletableFuture<HttpResponse<byte[]>>> all = IntStream.range(0, 100)
			.mapToObj((number) -> application.postAsync(path, "{}", KEY, key))
			.toList();
		// A limited number of requests waits for the response; the others are refused.
		assertThat(all).extracting((response) -> response.join().statusCode()).contains(200).isSubsetOf(200, 409);
		assertThat(all).filteredOn((response) -> response.join().statusCode() == 200)
			.extracting((response) -> WebApplication.text(response.join()))
			.containsOnly("run 1");
		assertThat(this.handlers.runs()).isOne();
	}

	@Test
	void runAsManyKeysAsThereAre() {
		List<CompletableFuture<HttpResponse<byte[]>>> all = IntStream.range(0, 40)
			.mapToObj((number) -> application.postAsync((number % 2 == 0) ? "/lease" : "/transaction", "{}", KEY,
					UUID.randomUUID().toString()))
			.toList();
		assertThat(all).extracting((response) -> response.join().statusCode()).containsOnly(200);
		assertThat(this.handlers.runs()).isEqualTo(40);
		assertThat(this.handlers.threads()).allMatch((thread) -> thread.startsWith("VirtualThread["));
	}

	private static WebApplication start() {
		List<String> properties = new ArrayList<>(postgres.properties());
		properties.addAll(List.of(WebApplication.WITH_DATABASE, "idempotent.jdbc.initialize-schema=always",
				"spring.threads.virtual.enabled=true"));
		return WebApplication.start(Application.class, redis, properties.toArray(String[]::new));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Handlers.class)
	static class Application {

	}

	@RestController
	static class Handlers {

		private final AtomicInteger runs = new AtomicInteger();

		private final Set<String> threads = ConcurrentHashMap.newKeySet();

		void reset() {
			this.runs.set(0);
			this.threads.clear();
		}

		int runs() {
			return this.runs.get();
		}

		Set<String> threads() {
			return this.threads;
		}

		@PostMapping("/lease")
		@Idempotent(onPending = OnPending.WAIT)
		String underLease() {
			return run();
		}

		@PostMapping("/transaction")
		@Idempotent(guarantee = Guarantee.TRANSACTION, onPending = OnPending.WAIT)
		String inTransaction() {
			return run();
		}

		private String run() {
			this.threads.add(Thread.currentThread().toString());
			return "run " + this.runs.incrementAndGet();
		}

	}

}
