package dev.idempotent.benchmark.http.application;

import java.time.Duration;
import java.util.Objects;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.http.MediaType;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionOperations;
import org.springframework.util.Assert;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;
import tools.jackson.databind.json.JsonMapper;

/**
 * What a first request in a transaction needs at least: the two calls to Redis, and two
 * statements beside that of the work, which insert the key and keep the response.
 */
@EnableAutoConfiguration
@Configuration(proxyBeanMethods = false)
@Import({ PlacedOrders.class, TransactionByHandApplication.Orders.class })
public class TransactionByHandApplication {

	@RestController
	static class Orders {

		private final StringRedisTemplate redis;

		private final JdbcTemplate jdbc;

		private final TransactionOperations transaction;

		private final PlacedOrders placed;

		private final JsonMapper json;

		Orders(StringRedisTemplate redis, JdbcTemplate jdbc, TransactionOperations transaction, PlacedOrders placed,
				JsonMapper json) {
			this.redis = redis;
			this.jdbc = jdbc;
			this.transaction = transaction;
			this.placed = placed;
			this.json = json;
		}

		@PostMapping(path = "/orders", produces = MediaType.APPLICATION_JSON_VALUE)
		String place(@RequestHeader("Idempotency-Key") String key, @RequestBody Order order) {
			Boolean first = this.redis.opsForValue().setIfAbsent("hand:" + key, "pending", Duration.ofSeconds(30));
			Assert.state(Boolean.TRUE.equals(first), "The key is taken");
			String receipt = Objects.requireNonNull(this.transaction.execute((status) -> commit(key, order)));
			this.redis.opsForValue().set("hand:" + key, receipt, Duration.ofHours(24));
			return receipt;
		}

		private String commit(String key, Order order) {
			int rows = this.jdbc.update("insert into response_by_hand (id) values (?) on conflict do nothing", key);
			Assert.state(rows == 1, "The key is taken");
			String receipt = this.json.writeValueAsString(this.placed.add(order));
			this.jdbc.update("update response_by_hand set response = ? where id = ?", receipt, key);
			return receipt;
		}

	}

}
