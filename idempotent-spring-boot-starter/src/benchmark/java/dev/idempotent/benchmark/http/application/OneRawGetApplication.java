package dev.idempotent.benchmark.http.application;

import java.io.IOException;
import java.time.Duration;

import jakarta.servlet.http.HttpServletRequest;
import tools.jackson.databind.json.JsonMapper;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

/**
 * What a replay needs at least: one {@code GET}. It does not read the body, as a check
 * that the request is the same would have to.
 */
@EnableAutoConfiguration
@Configuration(proxyBeanMethods = false)
@Import(OneRawGetApplication.Orders.class)
public class OneRawGetApplication {

	@RestController
	static class Orders {

		private final StringRedisTemplate redis;

		private final JsonMapper json;

		Orders(StringRedisTemplate redis, JsonMapper json) {
			this.redis = redis;
			this.json = json;
		}

		@PostMapping(path = "/orders", produces = MediaType.APPLICATION_JSON_VALUE)
		ResponseEntity<String> place(@RequestHeader("Idempotency-Key") String key, HttpServletRequest request)
				throws IOException {
			String stored = this.redis.opsForValue().get("hand:" + key);
			if (stored != null) {
				return ResponseEntity.ok().header("Idempotent-Replayed", "true").body(stored);
			}
			Order order = this.json.readValue(request.getInputStream(), Order.class);
			String receipt = this.json.writeValueAsString(Receipt.of(order));
			this.redis.opsForValue().set("hand:" + key, receipt, Duration.ofHours(24));
			return ResponseEntity.ok(receipt);
		}

	}

}
