package dev.idempotent.autoconfigure.actuate;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.stream.RedisStreamListener;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * An application with idempotent operations of every kind.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import(MeteredApplication.Orders.class)
class MeteredApplication {

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
		public void on(Order order) {
		}

	}

	record Order(String id) {
	}

}
