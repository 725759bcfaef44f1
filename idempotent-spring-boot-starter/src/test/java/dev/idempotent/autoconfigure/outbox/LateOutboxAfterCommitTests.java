package dev.idempotent.autoconfigure.outbox;

import dev.idempotent.outbox.OutboxTransactionException;
import org.junit.jupiter.api.Test;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static dev.idempotent.autoconfigure.outbox.LateOutboxTests.append;
import static dev.idempotent.autoconfigure.outbox.LateOutboxTests.awaitDelivered;
import static dev.idempotent.autoconfigure.outbox.LateOutboxTests.pending;
import static dev.idempotent.autoconfigure.outbox.LateOutboxTests.run;
import static dev.idempotent.autoconfigure.outbox.LateOutboxTests.transaction;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for an outbox that is requested first after a commit.
 */
class LateOutboxAfterCommitTests {

	@Test
	void refusesAnEventAfterTheCommit() {
		run((context) -> {
			transaction(context).executeWithoutResult((status) -> TransactionSynchronizationManager
				.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void afterCommit() {
						assertThatExceptionOfType(OutboxTransactionException.class)
							.isThrownBy(() -> append(context, "late"));
					}

				}));
			assertThat(pending(context)).isZero();
		});
	}

	@Test
	void takesAnEventOfANewTransactionAfterTheCommit() {
		run((context) -> {
			TransactionTemplate another = transaction(context);
			another.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
			transaction(context).executeWithoutResult((status) -> TransactionSynchronizationManager
				.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void afterCommit() {
						assertThatExceptionOfType(OutboxTransactionException.class).isThrownBy(
								() -> transaction(context).executeWithoutResult((joined) -> append(context, "late")));
						another.executeWithoutResult((begun) -> append(context, "own"));
					}

				}));
			awaitDelivered(context, "own");
		});
	}

	@Test
	void takesAnEventOfTheFirstTransactionIfItBeginsAfterACommit() {
		run((context) -> {
			TransactionTemplate another = transaction(context);
			another.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
			transaction(context).executeWithoutResult((status) -> TransactionSynchronizationManager
				.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void afterCommit() {
						another.executeWithoutResult((begun) -> append(context, "own"));
					}

				}));
			awaitDelivered(context, "own");
		});
	}

}
