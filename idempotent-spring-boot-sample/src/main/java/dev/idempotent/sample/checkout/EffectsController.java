package dev.idempotent.sample.checkout;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/**
 * Counts the effects of checkouts, so that "once or not at all" can be checked.
 */
@RestController
class EffectsController {

	private final JdbcClient jdbc;

	private final CheckoutPoints points;

	EffectsController(JdbcClient jdbc, CheckoutPoints points) {
		this.jdbc = jdbc;
		this.points = points;
	}

	@GetMapping("/api/effects")
	Effects effects(@RequestParam String userId) {
		CheckoutPoints.Balance balance = this.points.balance(userId);
		return this.jdbc.sql("""
				select count(distinct o.order_id) filter (where o.status <> 'REJECTED') as orders,
				       count(distinct o.order_id) filter (where o.status = 'REJECTED') as rejected,
				       count(distinct c.charge_id) as charges,
				       count(distinct r.refund_id) as refunds,
				       :points as points,
				       :credits as credits
				from orders o
				     left join charges c on c.order_id = o.order_id and c.approved
				     left join refunds r on r.charge_id = c.charge_id
				where o.user_id = :userId
				""")
			.param("points", balance.points())
			.param("credits", balance.credits())
			.param("userId", userId)
			.query(Effects.class)
			.single();
	}

}
