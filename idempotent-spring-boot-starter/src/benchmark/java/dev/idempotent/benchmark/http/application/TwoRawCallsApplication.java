package dev.idempotent.benchmark.http.application;

import java.time.Duration;

import tools.jackson.databind.json.JsonMapper;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.http.MediaType;
import org.springframework.util.Assert;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

/**
 * What a first request needs at least: {@code SET NX} before the work and {@code SET} of
 * the response after it.
 */
@EnableAutoConfiguration
@Configuration(proxyBeanMethods = false)
@Import(TwoRawCallsApplication.Orders.class)
public class TwoRawCallsApplication {

	@RestController
	static class Orders {

		private final StringRedisTemplate redis;

		private final JsonMapper json;

		Orders(StringRedisTemplate redis, JsonMapper json) {
			this.redis = redis;
			this.json = json;
		}

		@PostMapping(path = "/orders", produces = MediaType.APPLICATION_JSON_VALUE)
		String place(@RequestHeader("Idempotency-Key") String key, @RequestBody Order order) {
			Boolean first = this.redis.opsForValue().setIfAbsent("hand:" + key, "pending", Duration.ofSeconds(30));
			Assert.state(Boolean.TRUE.equals(first), "The key is taken");
			String receipt = this.json.writeValueAsString(Receipt.of(order));
			this.redis.opsForValue().set("hand:" + key, receipt, Duration.ofHours(24));
			return receipt;
		}

	}

}
