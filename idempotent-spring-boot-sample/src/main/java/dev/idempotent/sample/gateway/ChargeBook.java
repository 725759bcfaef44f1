package dev.idempotent.sample.gateway;

import java.util.UUID;

import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.stereotype.Component;

/**
 * One row per charge, which stays when the shop's transaction rolls back.
 */
@Component
class ChargeBook {

	private final JdbcClient jdbc;

	ChargeBook(JdbcConnectionDetails details) {
		// Not the shop's pool: its connections may all be held by those who wait for us.
		this.jdbc = JdbcClient.create(DataSourceBuilder.create()
			.type(SimpleDriverDataSource.class)
			.url(details.getJdbcUrl())
			.username(details.getUsername())
			.password(details.getPassword())
			.build());
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
