package dev.idempotent.sample.voucher;

import java.util.UUID;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.sample.chaos.Chaos;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * The vouchers of the shop.
 */
@Service
class Vouchers {

	private final JdbcClient jdbc;

	private final Chaos chaos;

	Vouchers(JdbcClient jdbc, Chaos chaos) {
		this.jdbc = jdbc;
		this.chaos = chaos;
	}

	/**
	 * Grants a user the welcome voucher, and returns the same one for ten years.
	 */
	@Transactional
	@Idempotent(key = "#userId", name = "welcome-voucher", guarantee = Guarantee.TRANSACTION, retention = "3650d")
	Voucher welcome(String userId) {
		Voucher voucher = new Voucher(UUID.randomUUID(), userId);
		this.jdbc.sql("insert into vouchers (voucher_id, user_id) values (:voucherId, :userId)")
			.param("voucherId", voucher.voucherId())
			.param("userId", userId)
			.update();
		this.chaos.strike();
		return voucher;
	}

}
