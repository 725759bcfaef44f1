package dev.idempotent.documentation.example;

import java.util.UUID;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.outbox.TransactionalOutbox;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

@RestController
class OrderController {

	private final JdbcClient jdbc;

	OrderController(JdbcClient jdbc) {
		this.jdbc = jdbc;
	}

	@PostMapping("/orders")
	@Idempotent(guarantee = Guarantee.TRANSACTION)
	@TransactionalOutbox(type = "order.created", topic = "redis-stream:orders", key = "#result.id")
	Order place(@RequestBody PlaceOrder command) {
		Order order = new Order(UUID.randomUUID(), command.item(), command.amount());
		this.jdbc.sql("insert into orders (id, item, amount) values (?, ?, ?)")
			.params(order.id(), order.item(), order.amount())
			.update();
		return order;
	}

	record PlaceOrder(String item, int amount) {
	}

	record Order(UUID id, String item, int amount) {
	}

}
