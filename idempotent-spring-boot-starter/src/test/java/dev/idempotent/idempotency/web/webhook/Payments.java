package dev.idempotent.idempotency.web.webhook;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Counts the payments that the webhook has recorded.
 */
class Payments {

	private final List<String> settled = new CopyOnWriteArrayList<>();

	void settle(String paymentId) {
		this.settled.add(paymentId);
	}

	List<String> settled() {
		return List.copyOf(this.settled);
	}

}
