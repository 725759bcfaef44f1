package dev.idempotent.autoconfigure.actuate;

import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;

import dev.idempotent.stream.RedeliveryPolicy;
import dev.idempotent.stream.RedisStreamListener;
import dev.idempotent.stream.RedisStreamListenerContainer;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.StallingProxy;
import dev.idempotent.testing.WebApplication;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.core.StringRedisTemplate;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for the stream endpoint over HTTP, on a real Redis.
 */
class StreamEndpointIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	@RegisterExtension
	static final StallingProxy network = StallingProxy.before(redis);

	private final String orders = "orders-" + UUID.randomUUID();

	private StringRedisTemplate template;

	private WebApplication application;

	@BeforeEach
	void start() {
		redis.start();
		this.template = new StringRedisTemplate(redis.connect());
		this.application = start(Application.class);
	}

	@AfterEach
	void stop() {
		this.application.close();
	}

	@Test
	void showsEachGroupThatTheApplicationListensTo() {
		add("good");
		add("bad");
		await().untilAsserted(() -> {
			JsonNode billing = group("billing");
			assertThat(billing.at("/deadLetters/length").asInt()).isEqualTo(1);
			assertThat(billing.get("pending").asInt()).isZero();
		});
		JsonNode state = answered();
		assertThat(state.get("running").asBoolean()).isTrue();
		assertThat(state.get("unreachableFor").isNull()).isTrue();
		assertThat(state.at("/redelivery/maxDeliveries").asInt()).isEqualTo(20);
		assertThat(state.at("/redelivery/minIdleTime").asString()).isEqualTo("PT30S");
		assertThat(state.at("/redelivery/policies/0").asString()).isEqualTo("fatal");
		assertThat(state.get("groups")).hasSize(2);
		JsonNode billing = group(state, "billing");
		assertThat(billing.propertyNames()).containsExactly("stream", "group", "concurrency", "length", "pending",
				"lag", "lastDeliveredId", "consumers", "deadLetters", "problem");
		assertThat(billing.get("stream").asString()).isEqualTo(this.orders);
		assertThat(billing.get("concurrency").asInt()).isEqualTo(2);
		assertThat(billing.get("length").asInt()).isEqualTo(2);
		assertThat(billing.get("lastDeliveredId").asString()).matches("\\d+-\\d+");
		assertThat(billing.at("/consumers/total").asInt()).isBetween(1, 2);
		JsonNode consumer = billing.at("/consumers/listed/0");
		assertThat(consumer.get("name").asString()).startsWith("idempotent-");
		assertThat(Duration.parse(consumer.get("idle").asString())).isLessThan(Duration.ofMinutes(1));
		assertThat(billing.at("/deadLetters/stream").asString()).isEqualTo(this.orders + ".billing.dead");
		assertThat(billing.get("problem").isNull()).isTrue();
		assertThat(state.toString()).doesNotContain("good").doesNotContain("secret");
	}

	@Test
	void respondsWhileRedisIsAwayAndSaysForHowLong() {
		redis.stop();
		network.reset();
		await().untilAsserted(() -> {
			JsonNode state = state();
			assertThat(state.get("running").asBoolean()).isTrue();
			assertThat(Duration.parse(state.get("unreachableFor").asString())).isPositive();
			assertThat(group("billing").get("problem").asString()).isEqualTo("Redis did not respond");
			assertThat(group("billing").get("pending").isNull()).isTrue();
		});
		redis.start();
		await().untilAsserted(() -> {
			assertThat(state().get("unreachableFor").isNull()).isTrue();
			assertThat(group("billing").get("problem").isNull()).isTrue();
		});
	}

	@Test
	void showsAContainerThatWasStopped() {
		this.application.bean(RedisStreamListenerContainer.class).stop();
		assertThat(state().get("running").asBoolean()).isFalse();
		assertThat(group(answered(), "shipping").get("problem").isNull()).isTrue();
		this.application.bean(RedisStreamListenerContainer.class).start();
		assertThat(state().get("running").asBoolean()).isTrue();
	}

	@Test
	void showsNoGroupsWithoutListeners() {
		this.application.close();
		this.application = start(WithoutListeners.class);
		assertThat(state().get("groups")).isEmpty();
		assertThat(state().get("running").asBoolean()).isFalse();
	}

	private WebApplication start(Class<?> configuration) {
		return WebApplication.start(configuration, network, "idempotent.enabled=false", "test.stream=" + this.orders,
				"management.endpoints.web.exposure.include=stream", "spring.lifecycle.timeout-per-shutdown-phase=10s");
	}

	private void add(String payload) {
		this.template.opsForStream().add(this.orders, Map.of("payload", payload, "ce_id", "secret"));
	}

	/**
	 * The state, once Redis has responded in time.
	 */
	private JsonNode answered() {
		return await().until(this::state, (state) -> !state.toString().contains("Redis did not respond"));
	}

	private JsonNode group(String name) {
		return group(state(), name);
	}

	private static JsonNode group(JsonNode state, String name) {
		return state.get("groups")
			.valueStream()
			.filter((each) -> each.get("group").asString().equals(name))
			.findFirst()
			.orElseThrow();
	}

	private JsonNode state() {
		HttpResponse<byte[]> response = this.application
			.send(this.application.request("/actuator/stream").GET().build());
		assertThat(response.statusCode()).isEqualTo(200);
		return JsonMapper.shared().readTree(response.body());
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class WithoutListeners {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@RedisStreamListener(stream = "${test.stream}", group = "billing", concurrency = 2)
		void bill(String order) {
			if (order.equals("bad")) {
				throw new IllegalArgumentException("of the test");
			}
		}

		@RedisStreamListener(stream = "${test.stream}", group = "shipping")
		void ship(String order) {
		}

		@Bean
		RedeliveryPolicy fatal() {
			return new RedeliveryPolicy() {

				@Override
				public @Nullable Duration redeliveryDelay(Throwable failure) {
					return null;
				}

				@Override
				public boolean isFatal(Throwable failure) {
					return failure instanceof IllegalArgumentException;
				}

			};
		}

	}

}
