package dev.idempotent.benchmark.http.application;

import java.util.Objects;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.transaction.support.TransactionOperations;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/**
 * A handler that inserts a row in a transaction.
 */
@EnableAutoConfiguration
@Configuration(proxyBeanMethods = false)
@Import({ PlacedOrders.class, BareTransactionApplication.Orders.class })
public class BareTransactionApplication {

	@RestController
	static class Orders {

		private final TransactionOperations transaction;

		private final PlacedOrders placed;

		Orders(TransactionOperations transaction, PlacedOrders placed) {
			this.transaction = transaction;
			this.placed = placed;
		}

		@PostMapping("/orders")
		Receipt place(@RequestBody Order order) {
			return Objects.requireNonNull(this.transaction.execute((status) -> this.placed.add(order)));
		}

	}

}
