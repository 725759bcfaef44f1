package dev.idempotent.benchmark.http.application;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/**
 * This project's {@code Guarantee.TRANSACTION}.
 */
@EnableAutoConfiguration
@Configuration(proxyBeanMethods = false)
@Import({ PlacedOrders.class, TransactionApplication.Orders.class })
public class TransactionApplication {

	@RestController
	static class Orders {

		private final PlacedOrders placed;

		Orders(PlacedOrders placed) {
			this.placed = placed;
		}

		@PostMapping("/orders")
		@Idempotent(guarantee = Guarantee.TRANSACTION)
		Receipt place(@RequestBody Order order) {
			return this.placed.add(order);
		}

	}

}
