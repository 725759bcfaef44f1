package dev.idempotent.sample.gateway;

import java.util.UUID;

import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.stereotype.Component;

/**
 * The charges and refunds, one row each. They remain if the shop's transaction is rolled
 * back.
 */
@Component
class ChargeBook {

	private final JdbcClient jdbc;

	ChargeBook(JdbcConnectionDetails details) {
		// Not the shop's pool: all its connections may be held by requests that wait for
		// the gateway.
		this.jdbc = JdbcClient.create(DataSourceBuilder.create()
			.type(SimpleDriverDataSource.class)
			.url(details.getJdbcUrl())
			.username(details.getUsername())
			.password(details.getPassword())
			.build());
	}

	Refund refund(long chargeId) {
		return this.jdbc.sql("insert into refunds (charge_id) values (:chargeId) returning refund_id, charge_id")
			.param("chargeId", chargeId)
			.query(Refund.class)
			.single();
	}

	Charge enter(UUID orderId, boolean approved) {
		return this.jdbc
			.sql("insert into charges (order_id, approved) values (:orderId, :approved) returning charge_id, approved")
			.param("orderId", orderId)
			.param("approved", approved)
			.query(Charge.class)
			.single();
	}

}
