package dev.idempotent.benchmark.http.application;

import dev.idempotent.idempotency.Idempotent;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

/**
 * This project's annotation on a method of a bean, which an endpoint calls.
 */
@EnableAutoConfiguration
@Configuration(proxyBeanMethods = false)
@Import({ MethodApplication.Receipts.class, MethodApplication.Orders.class })
public class MethodApplication {

	@RestController
	static class Orders {

		private final Receipts receipts;

		Orders(Receipts receipts) {
			this.receipts = receipts;
		}

		@PostMapping("/orders")
		Receipt place(@RequestHeader("Idempotency-Key") String key, @RequestBody Order order) {
			return this.receipts.give(key, order);
		}

	}

	static class Receipts {

		@Idempotent(key = "#key", name = "receipts.give")
		Receipt give(String key, Order order) {
			return Receipt.of(order);
		}

	}

}
