package dev.idempotent.benchmark.http.application;

import java.time.Duration;

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
 * What a first request in a transaction needs at least: the two calls to Redis, and two
 * statements beside the statement of the work, which insert the key and keep the
 * response.
 */
@EnableAutoConfiguration
@Configuration(proxyBeanMethods = false)
@Import({ PlacedOrders.class, ResponsesByHand.class, TransactionByHandApplication.Orders.class })
public class TransactionByHandApplication {

	@RestController
	static class Orders {

		private final StringRedisTemplate redis;

		private final ResponsesByHand responses;

		Orders(StringRedisTemplate redis, ResponsesByHand responses) {
			this.redis = redis;
			this.responses = responses;
		}

		@PostMapping(path = "/orders", produces = MediaType.APPLICATION_JSON_VALUE)
		String place(@RequestHeader("Idempotency-Key") String key, @RequestBody Order order) {
			Boolean first = this.redis.opsForValue().setIfAbsent("hand:" + key, "pending", Duration.ofSeconds(30));
			Assert.state(Boolean.TRUE.equals(first), "The key is taken");
			String receipt = this.responses.commit(key, order);
			this.redis.opsForValue().set("hand:" + key, receipt, Duration.ofHours(24));
			return receipt;
		}

	}

}
