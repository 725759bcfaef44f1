package dev.idempotent.sample;

import java.net.http.HttpResponse;

import com.jayway.jsonpath.JsonPath;
import dev.idempotent.outbox.kafka.KafkaOutboxPublisher;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.kafka.autoconfigure.KafkaProperties;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.ApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

@ShopTest
class CouponShopIntegrationTests {

	private final ShopClient shop;

	CouponShopIntegrationTests(@LocalServerPort int port) {
		this.shop = new ShopClient(port);
	}

	@Test
	void isHealthyOnItsEmbeddedServers() {
		String health = this.shop.get("/actuator/health").body();
		assertThat(JsonPath.<String>read(health, "$.status")).isEqualTo("UP");
		assertThat(JsonPath.<String>read(health, "$.components.redis.status")).isEqualTo("UP");
		assertThat(JsonPath.<String>read(health, "$.components.db.details.database")).isEqualTo("PostgreSQL");
	}

	@Test
	void hasNoKafkaWithoutItsProfile(@Autowired ApplicationContext context) {
		assertThat(context.getBeanNamesForType(KafkaProperties.class)).isEmpty();
		assertThat(context.getBeanNamesForType(KafkaOutboxPublisher.class)).isEmpty();
	}

	@Test
	void offersMetrics() {
		assertThat(this.shop.get("/actuator/metrics/http.server.requests.active").statusCode()).isEqualTo(200);
	}

	@Test
	void offersItsMetersToPrometheus() {
		assertThat(this.shop.get("/actuator/prometheus").body()).contains("http_server_requests_seconds_count",
				"outbox_delivered_total", "outbox_events_dead ");
	}

	@Test
	void servesItsPage() {
		HttpResponse<String> page = this.shop.get("/");
		assertThat(page.statusCode()).isEqualTo(200);
		assertThat(page.body()).contains("app.js", "theme.css").doesNotContain("http:", "https:");
	}

}
