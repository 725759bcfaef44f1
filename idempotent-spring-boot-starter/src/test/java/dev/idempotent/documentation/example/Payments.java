package dev.idempotent.documentation.example;

import java.util.UUID;

import dev.idempotent.outbox.TransactionalOutbox;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

@Service
class Payments {

	private final JdbcClient jdbc;

	Payments(JdbcClient jdbc) {
		this.jdbc = jdbc;
	}

	@Transactional
	@TransactionalOutbox(type = "payment.captured", topic = "redis-stream:payments", key = "#result.booking")
	public Receipt capture(Payment payment) {
		Receipt receipt = new Receipt(UUID.randomUUID(), payment.booking(), payment.amount());
		this.jdbc.sql("insert into payments (id, booking, amount) values (?, ?, ?)")
			.params(receipt.id(), receipt.booking(), receipt.amount())
			.update();
		return receipt;
	}

}
