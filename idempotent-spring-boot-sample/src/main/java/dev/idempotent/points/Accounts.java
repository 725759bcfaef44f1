package dev.idempotent.points;

import java.util.UUID;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * The credits of all accounts.
 */
@Repository
class Accounts {

	private final JdbcClient jdbc;

	Accounts(JdbcClient jdbc) {
		this.jdbc = jdbc;
	}

	void credit(Credit credit) {
		this.jdbc.sql("insert into points_credit (account, order_id, points) values (:account, :orderId, :points)")
			.param("account", credit.account())
			.param("orderId", credit.orderId())
			.param("points", credit.points())
			.update();
	}

	void cancel(UUID orderId) {
		this.jdbc.sql("update points_credit set cancelled = true where order_id = :orderId")
			.param("orderId", orderId)
			.update();
	}

	Balance balance(String account) {
		return this.jdbc.sql("""
				select coalesce(sum(points) filter (where not cancelled), 0) as points, count(*) as credits,
				       count(*) filter (where cancelled) as cancelled
				from points_credit where account = :account
				""").param("account", account).query(Balance.class).single();
	}

}
