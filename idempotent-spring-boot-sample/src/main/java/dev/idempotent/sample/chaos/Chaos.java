package dev.idempotent.sample.chaos;

import dev.idempotent.sample.chaos.ChaosRequest.Failure;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;

/**
 * Lets a request fail, or halts the JVM, as the client has requested.
 */
@Component
public class Chaos {

	static final String ATTRIBUTE = Chaos.class.getName();

	private static final int FAILURES_OF_HANDLERS = 2;

	/**
	 * Fails the current transaction before or after its commit, or halts the JVM at one
	 * of these moments, if the client has requested it. Must be called when everything is
	 * written. Does nothing outside a request.
	 */
	public void strike() {
		ChaosRequest chaos = requested();
		if (chaos != null) {
			if (chaos.halt() == Halt.IN_HANDLER) {
				chaos.halt().strike();
			}
			if (chaos.failure() == Failure.BEFORE_COMMIT) {
				throw new ChaosException("Failed before the commit, as requested by X-Chaos");
			}
			TransactionSynchronizationManager.registerSynchronization(new AroundCommit(chaos));
		}
	}

	/**
	 * How many attempts of each handler of the current request's event fail, if the
	 * client has requested it.
	 */
	public int failuresOfHandlers() {
		ChaosRequest chaos = requested();
		return (chaos != null && chaos.failure() == Failure.HANDLERS) ? FAILURES_OF_HANDLERS : 0;
	}

	private static @Nullable ChaosRequest requested() {
		RequestAttributes request = RequestContextHolder.getRequestAttributes();
		return (request != null
				&& request.getAttribute(ATTRIBUTE, RequestAttributes.SCOPE_REQUEST) instanceof ChaosRequest chaos)
						? chaos : null;
	}

	/**
	 * Runs last, after a synchronization that writes a record before the commit.
	 */
	private record AroundCommit(ChaosRequest chaos) implements TransactionSynchronization {

		@Override
		public int getOrder() {
			return Ordered.LOWEST_PRECEDENCE;
		}

		@Override
		public void beforeCommit(boolean readOnly) {
			if (this.chaos.halt() == Halt.BEFORE_COMMIT) {
				this.chaos.halt().strike();
			}
		}

		@Override
		public void afterCommit() {
			if (this.chaos.halt() == Halt.AFTER_COMMIT) {
				this.chaos.halt().strike();
			}
			if (this.chaos.failure() == Failure.AFTER_COMMIT) {
				throw new ChaosException("Failed after the commit, as requested by X-Chaos");
			}
		}

	}

}
