package dev.idempotent.documentation.example;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyObserver;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

@Component
class UnknownOutcomes implements IdempotencyObserver {

	private static final Logger logger = LoggerFactory.getLogger(UnknownOutcomes.class);

	@Override
	public void decided(Decision decision) {
		if (decision.outcome() == Outcome.UNKNOWN) {
			logger.error("Check the outcome of {} with key {}", decision.operation().name(), decision.key());
		}
	}

	@Override
	public void leaseLost(IdempotencyKey key) {
		logger.error("The work of key {} may have run twice", key);
	}

}
