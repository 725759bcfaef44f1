package dev.idempotent.documentation.example;

import java.net.http.HttpResponse;

import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The example of the README over real HTTP.
 */
class OrderControllerIntegrationTests {

	private static final String ORDER = "{\"item\":\"coupon\",\"amount\":1}";

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication application = RunningApplication
		.of(() -> WebApplication.start(Shop.class, redis, WebApplication.WITH_DATABASE));

	@Test
	void placesOneOrderAndSendsOneEventForTwoRequestsWithOneKey() {
		JdbcClient jdbc = application.bean(JdbcClient.class);
		jdbc.sql("create table orders (id uuid, item varchar(100), amount int)").update();
		HttpResponse<byte[]> first = application.post("/orders", ORDER, "Idempotency-Key", "one");
		HttpResponse<byte[]> retry = application.post("/orders", ORDER, "Idempotency-Key", "one");
		assertThat(first.statusCode()).isEqualTo(200);
		assertThat(retry.statusCode()).isEqualTo(200);
		assertThat(retry.body()).isEqualTo(first.body());
		assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");
		assertThat(jdbc.sql("select count(*) from orders").query(Long.class).single()).isOne();
		await().untilAsserted(
				() -> assertThat(jdbc.sql("select count(*) from outbox_event").query(Long.class).single()).isZero());
		assertThat(application.bean(StringRedisTemplate.class).opsForStream().size("orders")).isOne();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(OrderController.class)
	static class Shop {

	}

}
