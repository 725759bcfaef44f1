package dev.idempotent.autoconfigure.actuate;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;

import dev.idempotent.autoconfigure.actuate.IdempotencyMetricsIntegrationTests.MeteredApplication.Calls;
import dev.idempotent.documentation.Page;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyObserver;
import dev.idempotent.idempotency.IdempotencyObserver.StoreResult;
import dev.idempotent.idempotency.IdempotencyObserver.StoreVerb;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.method.IdempotencyTemplate;
import dev.idempotent.stream.RedisStreamListener;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link IdempotencyMetrics} in an application on real servers.
 */
class IdempotencyMetricsIntegrationTests {

	private static final String PAGE = "docs/observability.md";

	/**
	 * Of a row in the tables of meters, split at its lines.
	 */
	private static final int COLUMNS = 5;

	private static final String STREAM = "metered-" + UUID.randomUUID();

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication application = RunningApplication
		.of(IdempotencyMetricsIntegrationTests::startApplication);

	@Test
	void countRequestsUnderALease() {
		String key = UUID.randomUUID().toString();
		long runs = count("http", "orders", "lease", "run");
		long replays = count("http", "orders", "lease", "replayed");
		long mismatches = count("http", "orders", "lease", "mismatched");
		long claims = storeCalls("Redis", "claim");
		application.post("/orders", "{}", "Idempotency-Key", key);
		application.post("/orders", "{}", "Idempotency-Key", key);
		application.post("/orders", "{\"other\":1}", "Idempotency-Key", key);
		assertThat(count("http", "orders", "lease", "run")).isEqualTo(runs + 1);
		assertThat(count("http", "orders", "lease", "replayed")).isEqualTo(replays + 1);
		assertThat(count("http", "orders", "lease", "mismatched")).isEqualTo(mismatches + 1);
		assertThat(storeCalls("Redis", "claim")).isEqualTo(claims + 3);
		assertThat(registry().get("idempotency.runs.active").gauge().value()).isZero();
	}

	@Test
	void countReplaysFromTheCache() {
		String key = UUID.randomUUID().toString();
		double hits = cacheHits();
		application.post("/orders", "{}", "Idempotency-Key", key);
		application.post("/orders", "{}", "Idempotency-Key", key);
		application.post("/orders", "{}", "Idempotency-Key", key);
		assertThat(cacheHits()).isGreaterThan(hits);
	}

	@Test
	void countRequestsUnderATransaction() {
		String key = UUID.randomUUID().toString();
		long runs = count("http", "payments", "transaction", "run");
		long claims = storeCalls("Database", "claim");
		application.post("/payments", "{}", "Idempotency-Key", key);
		assertThat(count("http", "payments", "transaction", "run")).isEqualTo(runs + 1);
		assertThat(storeCalls("Database", "claim")).isEqualTo(claims + 1);
	}

	@Test
	void countRequestsThatAreRefusedOrReleased() {
		long refused = count("http", "orders", "lease", "refused");
		application.post("/orders", "{}");
		application.post("/orders", "{}", "Idempotency-Key", "\"");
		assertThat(count("http", "orders", "lease", "refused")).isEqualTo(refused + 2);
		application.post("/failures", "{}", "Idempotency-Key", UUID.randomUUID().toString());
		await().untilAsserted(() -> assertThat(registry().find("idempotency.requests").tag("kind", "http").timers())
			.extracting((timer) -> timer.getId().getTag("operation"))
			.anyMatch((operation) -> operation.contains("fail")));
	}

	@Test
	void ignoreOtherRequests() {
		application.post("/plain", "{}", "Idempotency-Key", UUID.randomUUID().toString());
		assertThat(registry().find("idempotency.requests").timers())
			.extracting((timer) -> timer.getId().getTag("operation"))
			.noneMatch((operation) -> operation.contains("plain"));
	}

	@Test
	void countCallsOfMethodsListenersAndTheTemplate() {
		String id = UUID.randomUUID().toString();
		application.bean(Calls.class).ship(id);
		application.bean(Calls.class).ship(id);
		assertThat(count("method", "ship", "transaction", "run")).isEqualTo(1);
		assertThat(count("method", "ship", "transaction", "replayed")).isEqualTo(1);
		assertThatExceptionOfType(IllegalArgumentException.class)
			.isThrownBy(() -> application.bean(Calls.class).ship(null));
		assertThat(count("method", "ship", "transaction", "refused")).isEqualTo(1);
		application.bean(IdempotencyTemplate.class).execute("invoice", id, String.class, () -> "written");
		assertThat(count("template", "invoice", "lease", "run")).isEqualTo(1);
		application.bean(StringRedisTemplate.class)
			.opsForStream()
			.add(STREAM, Map.of("ce_id", id, "payload", "{\"id\":\"" + id + "\"}"));
		await().untilAsserted(() -> assertThat(count("listener", "notify", "lease", "run")).isEqualTo(1));
	}

	@Test
	void matchTheDocumentedMeters() {
		countRequestsUnderALease();
		IdempotencyMetrics metrics = application.bean(IdempotencyMetrics.class);
		metrics.settlementRetried(StoreVerb.COMPLETE, StoreResult.ANSWERED);
		metrics.settlementRetried(StoreVerb.RELEASE, StoreResult.UNAVAILABLE);
		Map<String, String> meters = registry().getMeters()
			.stream()
			.filter((meter) -> isOurs(meter.getId()))
			.collect(Collectors.toMap((meter) -> meter.getId().getName(), IdempotencyMetricsIntegrationTests::describe,
					(one, other) -> one, TreeMap::new));
		assertThat(documented()).isEqualTo(meters);
	}

	@Test
	void documentEachValueOfATag() {
		String page = Page.source(PAGE);
		assertThat(IdempotencyObserver.Outcome.values())
			.allSatisfy((outcome) -> assertThat(page).contains("| `" + value(outcome) + "` |"));
		assertThat(IdempotencyObserver.Operation.Kind.values())
			.allSatisfy((kind) -> assertThat(page).contains("`" + value(kind) + "`"));
		assertThat(StoreVerb.values()).allSatisfy((verb) -> assertThat(page).contains("`" + value(verb) + "`"));
		assertThat(StoreResult.values()).allSatisfy((result) -> assertThat(page).contains("`" + value(result) + "`"));
		IdempotencyMetrics metrics = application.bean(IdempotencyMetrics.class);
		metrics.settlementRetried(StoreVerb.COMPLETE, StoreResult.ANSWERED);
		assertThat(registry().get("idempotency.settlements.retried")
			.tags("verb", "complete", "outcome", "settled")
			.counter()
			.count()).isPositive();
		assertThat(page).contains("`settled`");
	}

	private static boolean isOurs(Meter.Id id) {
		return id.getName().startsWith("idempotency.");
	}

	private static String describe(Meter meter) {
		String tags = meter.getId().getTags().stream().map(Tag::getKey).collect(Collectors.joining(", "));
		String kind = meter.getId().getType().name().toLowerCase(Locale.ROOT).replace('_', ' ');
		String unit = meter.getId().getBaseUnit();
		return kind + ((unit == null || kind.equals("timer")) ? "" : ", " + unit) + ";" + tags;
	}

	/**
	 * Name, and kind with unit, and tags. A timer has seconds.
	 */
	private static Map<String, String> documented() {
		return Page.source(PAGE)
			.lines()
			.filter((line) -> line.startsWith("| `idempotency."))
			.map((line) -> line.replace("`", "").split("\\|"))
			.filter((cells) -> cells.length == COLUMNS)
			.collect(Collectors.toMap((cells) -> cells[1].strip(), (cells) -> cells[2].strip() + ";" + cells[3].strip(),
					(one, other) -> one, TreeMap::new));
	}

	private static String value(Enum<?> constant) {
		return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

	private static long count(String kind, String operation, String guarantee, String outcome) {
		return registry().find("idempotency.requests")
			.tags("kind", kind, "operation", operation, "guarantee", guarantee, "outcome", outcome)
			.timers()
			.stream()
			.mapToLong((timer) -> timer.count())
			.sum();
	}

	private static double cacheHits() {
		return registry().get("cache.gets")
			.tags("cache", "idempotency-replays", "result", "hit")
			.functionCounter()
			.count();
	}

	private static long storeCalls(String store, String verb) {
		return registry().find("idempotency.store")
			.tags("store", store, "verb", verb, "outcome", "answered")
			.timers()
			.stream()
			.mapToLong((timer) -> timer.count())
			.sum();
	}

	private static MeterRegistry registry() {
		return application.bean(MeterRegistry.class);
	}

	private static WebApplication startApplication() {
		List<String> properties = new ArrayList<>(List.of(WebApplication.WITH_DATABASE, WebApplication.WITH_OPERATIONS,
				"idempotent.jdbc.initialize-schema=always", "idempotent.replay-cache.max-size=1MB",
				"test.stream=" + STREAM));
		properties.addAll(postgres.properties());
		return WebApplication.start(MeteredApplication.class, redis, properties.toArray(String[]::new));
	}

	/**
	 * An application with idempotent operations of every kind.
	 */
	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(MeteredApplication.Orders.class)
	static class MeteredApplication {

		@Bean
		Calls calls() {
			return new Calls();
		}

		@RestController
		static class Orders {

			@PostMapping("/orders")
			@Idempotent(name = "orders")
			String order() {
				return "ordered";
			}

			@PostMapping("/payments")
			@Idempotent(name = "payments", guarantee = Guarantee.TRANSACTION)
			String pay() {
				return "paid";
			}

			@PostMapping("/failures")
			@Idempotent
			void fail() {
				throw new IllegalStateException("of the test");
			}

			@PostMapping("/plain")
			String plain() {
				return "done";
			}

		}

		static class Calls {

			@Transactional
			@Idempotent(name = "ship", key = "#id", guarantee = Guarantee.TRANSACTION)
			public String ship(@Nullable String id) {
				return "shipped";
			}

			@RedisStreamListener(stream = "${test.stream}", group = "metered")
			@Idempotent(name = "notify", key = "#order.id")
			public void on(PlacedOrder order) {
			}

		}

		record PlacedOrder(String id) {
		}

	}

}
