package dev.idempotent.idempotency.web.webhook;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Counts what the webhook does.
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
