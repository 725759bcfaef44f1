package dev.idempotent.sample.payment;

import java.util.UUID;

import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.stereotype.Component;

/**
 * Stands for somebody else's payment gateway: each call is a row in {@code charges}, and
 * what it has charged stays charged when our transaction rolls back.
 */
@Component
class PaymentGateway {

	private final JdbcClient jdbc;

	PaymentGateway(JdbcConnectionDetails details) {
		// Connections of its own: a second one of the pool for a caller that holds the
		// first could wait for ever.
		this.jdbc = JdbcClient.create(DataSourceBuilder.create()
			.type(SimpleDriverDataSource.class)
			.url(details.getJdbcUrl())
			.username(details.getUsername())
			.password(details.getPassword())
			.build());
	}

	/**
	 * Charges an order.
	 * @return whether the payment was approved
	 */
	boolean charge(UUID orderId, String method) {
		boolean approved = !method.equals("declined");
		this.jdbc.sql("insert into charges (order_id, approved) values (:orderId, :approved)")
			.param("orderId", orderId)
			.param("approved", approved)
			.update();
		return approved;
	}

}
