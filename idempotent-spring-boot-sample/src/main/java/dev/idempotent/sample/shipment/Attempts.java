package dev.idempotent.sample.shipment;

import dev.idempotent.sample.order.Shipment;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/**
 * The attempts of handlers, one row each.
 */
@Component
class Attempts {

	private final JdbcClient jdbc;

	Attempts(JdbcClient jdbc) {
		this.jdbc = jdbc;
	}

	/**
	 * Counts an attempt in a transaction of its own, so that it remains if the attempt is
	 * rolled back.
	 * @return its number, from 1
	 */
	@Transactional(propagation = Propagation.REQUIRES_NEW)
	public int count(String handler, Shipment shipment) {
		this.jdbc.sql("insert into handler_attempt (handler, order_id) values (?, ?)")
			.params(handler, shipment.orderId())
			.update();
		return this.jdbc.sql("select count(*) from handler_attempt where handler = ? and order_id = ?")
			.params(handler, shipment.orderId())
			.query(Integer.class)
			.single();
	}

}
