package dev.idempotent.idempotency.jdbc;

import java.util.concurrent.atomic.AtomicBoolean;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.transaction.support.TransactionSynchronization;

/**
 * Warns once per method that part of its work is committed separately.
 */
final class SuspensionWarning implements TransactionSynchronization {

	private static final Logger logger = LoggerFactory.getLogger(SuspensionWarning.class);

	private final String method;

	private final AtomicBoolean given = new AtomicBoolean();

	SuspensionWarning(String method) {
		this.method = method;
	}

	@Override
	public void suspend() {
		if (this.given.compareAndSet(false, true)) {
			logger.warn("{} suspends its transaction (REQUIRES_NEW or NOT_SUPPORTED): that part of the work is "
					+ "committed separately and may be done twice despite Guarantee.TRANSACTION", this.method);
		}
	}

}
