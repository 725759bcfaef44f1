package dev.idempotent.sample.chaos;

import dev.idempotent.sample.chaos.ChaosRequest.Failure;
import jakarta.servlet.http.HttpServletRequest;

import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Lets the work of a request fail where its client has asked for it.
 */
@Component
public class Chaos {

	static final String ATTRIBUTE = Chaos.class.getName();

	private final HttpServletRequest request;

	Chaos(HttpServletRequest request) {
		this.request = request;
	}

	/**
	 * Fails the current transaction before or after its commit if the client has asked
	 * for it. Called when everything is written.
	 */
	public void strike() {
		if (this.request.getAttribute(ATTRIBUTE) instanceof ChaosRequest chaos) {
			if (chaos.failure() == Failure.BEFORE_COMMIT) {
				throw new ChaosException("Failed before the commit, as X-Chaos has asked");
			}
			if (chaos.failure() == Failure.AFTER_COMMIT) {
				TransactionSynchronizationManager.registerSynchronization(new FailAfterCommit());
			}
		}
	}

	private static final class FailAfterCommit implements TransactionSynchronization {

		@Override
		public void afterCommit() {
			throw new ChaosException("Failed after the commit, as X-Chaos has asked");
		}

	}

}
