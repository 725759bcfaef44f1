package dev.idempotent.idempotency.client;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.idempotency.web.IdempotencyScopeResolver;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.saga.Sagas;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.RestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What requests whose key is their fingerprint ask of other services and of sagas: once
 * for a request and its retries, and again for an equal request after the retention.
 */
class FingerprintKeysIntegrationTests {

	private static final String RETENTION = "2s";

	private static final int POOL_SIZE = 3;

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private static final Ledger ledger = new Ledger().at("");

	@SuppressWarnings("NullAway.Init")
	private static WebApplication application;

	private final String item = UUID.randomUUID().toString();

	@BeforeAll
	static void start() {
		application = WebApplication.start(Shop.class, redis, Stream.concat(postgres.properties().stream(),
				Stream.of(WebApplication.WITH_DATABASE, "idempotent.jdbc.initialize-schema=always",
						"idempotent.saga.initialize-schema=always", "idempotent.saga.table-prefix=fingerprint_saga_",
						"idempotent.lease=1s", "spring.datasource.hikari.maximum-pool-size=" + POOL_SIZE,
						"idempotent.client.targets.pay=" + ledger.locations().get(0)))
			.toArray(String[]::new));
	}

	@AfterAll
	static void stop() {
		application.close();
		ledger.close();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/leased", "/recorded" })
	void areDoneOnceForARequestAndItsRetriesAndAgainAfterTheRetention(String path) {
		String charges = "/charges/" + this.item;
		assertThat(order(path, charges).statusCode()).isEqualTo(500);
		assertThat(order(path, charges).statusCode()).isEqualTo(200);
		assertThat(isReplay(order(path, charges))).isTrue();
		assertThat(ledger.keys(charges)).hasSize(2).doesNotContain("null");
		assertThat(ledger.effects(charges)).isOne();
		HttpResponse<byte[]> next = await().until(() -> order(path, charges), (response) -> !isReplay(response));
		assertThat(next.statusCode()).isEqualTo(200);
		assertThat(ledger.effects(charges)).isEqualTo(2);
	}

	/**
	 * Each run holds a connection of the pool while it records the root.
	 */
	@Test
	void areDoneByMoreRunsAtOnceThanThePoolHasConnections() throws Exception {
		List<String> charges = IntStream.range(0, 4 * POOL_SIZE).mapToObj((i) -> "/charges/" + this.item + i).toList();
		List<CompletableFuture<HttpResponse<byte[]>>> first = charges.stream()
			.map((path) -> application.postAsync("/recorded", "\"" + path + "\""))
			.toList();
		for (CompletableFuture<HttpResponse<byte[]>> lost : first) {
			assertThat(lost.get(1, TimeUnit.MINUTES).statusCode()).isEqualTo(500);
		}
		assertThat(charges).allSatisfy((path) -> {
			assertThat(order("/recorded", path).statusCode()).isEqualTo(200);
			assertThat(ledger.effects(path)).isOne();
		});
	}

	@Test
	void areDoneOnceUnderATransactionThoughRedisForgetsTheRequest() {
		String charges = "/charges/" + this.item;
		assertThat(order("/recorded", charges).statusCode()).isEqualTo(500);
		redis.flush();
		assertThat(order("/recorded", charges).statusCode()).isEqualTo(200);
		assertThat(ledger.keys(charges)).hasSize(2);
		assertThat(ledger.effects(charges)).isOne();
	}

	@Test
	void startASagaWithoutAKeyOfItsOwnAndAnotherOneAfterTheRetention() {
		int before = Bookings.booked.get();
		String first = WebApplication.text(order("/started", this.item));
		assertThat(WebApplication.text(order("/started", this.item))).isEqualTo(first);
		await().untilAtomic(Bookings.booked, (booked) -> assertThat(booked).isEqualTo(before + 1));
		HttpResponse<byte[]> next = await().until(() -> order("/started", this.item),
				(response) -> !isReplay(response));
		assertThat(WebApplication.text(next)).isNotEqualTo(first);
		await().untilAtomic(Bookings.booked, (booked) -> assertThat(booked).isEqualTo(before + 2));
	}

	private static HttpResponse<byte[]> order(String path, String item) {
		return application.post(path, "\"" + item + "\"");
	}

	private static boolean isReplay(HttpResponse<byte[]> response) {
		return response.headers().firstValue("Idempotent-Replayed").isPresent();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Orders.class, Bookings.class })
	static class Shop {

		@Bean
		IdempotencyScopeResolver oneCaller() {
			return (request) -> "alice";
		}

	}

	@RestController
	static class Orders {

		private final RestClient client;

		private final Sagas sagas;

		private final Bookings bookings;

		Orders(RestClient.Builder client, Sagas sagas, Bookings bookings) {
			this.client = client.baseUrl(ledger.locations().get(0)).build();
			this.sagas = sagas;
			this.bookings = bookings;
		}

		@PostMapping("/leased")
		@Idempotent(from = KeySource.FINGERPRINT, name = "leased", retention = RETENTION, guarantee = Guarantee.LEASE)
		@Nullable String leased(@RequestBody String charges) {
			return charge(charges);
		}

		@PostMapping("/recorded")
		@Idempotent(from = KeySource.FINGERPRINT, name = "recorded", retention = RETENTION,
				guarantee = Guarantee.TRANSACTION)
		@Nullable String recorded(@RequestBody String charges) {
			return charge(charges);
		}

		@PostMapping("/started")
		@Idempotent(from = KeySource.FINGERPRINT, name = "started", retention = RETENTION,
				guarantee = Guarantee.TRANSACTION)
		String started(@RequestBody String item) {
			return this.sagas.start(() -> this.bookings.book(item)).digest();
		}

		private @Nullable String charge(String charges) {
			return this.client.post().uri(charges.replace("\"", "")).body("one").retrieve().body(String.class);
		}

	}

	static class Bookings {

		private static final AtomicInteger booked = new AtomicInteger();

		private final SagaSteps saga;

		Bookings(SagaSteps saga) {
			this.saga = saga;
		}

		@Saga(name = "booking")
		public void book(String item) {
			this.saga.step("book").run(booked::incrementAndGet);
		}

	}

}
