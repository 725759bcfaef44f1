package dev.idempotent.sample.gateway;

import org.springframework.stereotype.Component;

/**
 * Whether the gateway takes refunds.
 */
@Component
class RefundDesk {

	private volatile boolean open = true;

	boolean isOpen() {
		return this.open;
	}

	void setOpen(boolean open) {
		this.open = open;
	}

}
