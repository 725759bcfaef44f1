package dev.idempotent.outbox.transaction;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.outbox.OutboxTransactionException;
import org.junit.jupiter.api.Test;
import org.springframework.core.Ordered;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Which events are published that are appended during or after the commit.
 */
abstract class LateEventRules extends OutboxTransactionRules {

	@Test
	void appendsEventsBeforeTheCommit() {
		inTransaction((outbox) -> beforeCommit(() -> append("first in a late phase")));
		inTransaction((outbox) -> {
			append("early");
			beforeCommit(() -> append("second in a late phase"));
		});
		assertThat(events()).containsExactly("first in a late phase", "early", "second in a late phase");
	}

	@Test
	void dropsEventsBeforeACommitThatFails() {
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> inTransaction((outbox) -> {
			append("early");
			beforeCommit(() -> {
				append("late");
				throw new IllegalStateException("no commit");
			});
		}));
		assertThat(events()).isEmpty();
	}

	@Test
	void rejectsAnEventAfterTheCommit() {
		Refusals refusals = new Refusals(() -> append("lost"));
		inTransaction((outbox) -> {
			append("early");
			TransactionSynchronizationManager.registerSynchronization(refusals);
		});
		assertThat(refusals.messages).hasSize(2)
			.allSatisfy((message) -> assertThat(message).contains("has ended", "REQUIRES_NEW"));
		assertThat(events()).containsExactly("early");
	}

	@Test
	void appendsAnEventAfterTheCommitInANewTransaction() {
		inTransaction(
				(outbox) -> TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void afterCommit() {
						template(TransactionDefinition.PROPAGATION_REQUIRES_NEW)
							.executeWithoutResult((status) -> append("later"));
					}

				}));
		assertThat(events()).containsExactly("later");
	}

	@Test
	void sortsNoSynchronizationForAnEvent() {
		AtomicInteger asked = new AtomicInteger();
		inTransaction((outbox) -> {
			for (int i = 0; i < 100; i++) {
				TransactionSynchronizationManager.registerSynchronization(new Counted(asked));
			}
			asked.set(0);
			append("early");
			beforeCommit(() -> {
				asked.set(0);
				append("late");
				assertThat(asked).hasValue(0);
			});
			assertThat(asked).hasValue(0);
		});
		assertThat(events()).containsExactly("early", "late");
	}

	@Test
	void appendsEventsToAResumedTransaction() {
		inTransaction((outbox) -> {
			append("before");
			template(TransactionDefinition.PROPAGATION_NOT_SUPPORTED)
				.executeWithoutResult((status) -> template(TransactionDefinition.PROPAGATION_REQUIRES_NEW)
					.executeWithoutResult((inner) -> append("inner")));
			append("after");
		});
		assertThat(events()).containsExactly("inner", "before", "after");
	}

	/**
	 * As listeners of {@code TransactionPhase.BEFORE_COMMIT} do.
	 */
	static void beforeCommit(Runnable work) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void beforeCommit(boolean readOnly) {
				work.run();
			}

		});
	}

	/**
	 * Counts the calls of its order.
	 */
	private record Counted(AtomicInteger asked) implements TransactionSynchronization {

		@Override
		public int getOrder() {
			this.asked.incrementAndGet();
			return 0;
		}

	}

	/**
	 * Appends after the commit, before all other synchronizations.
	 */
	private static final class Refusals implements TransactionSynchronization {

		private final List<String> messages = new ArrayList<>();

		private final Runnable append;

		Refusals(Runnable append) {
			this.append = append;
		}

		@Override
		public int getOrder() {
			return Ordered.HIGHEST_PRECEDENCE;
		}

		@Override
		public void afterCommit() {
			tryIt();
		}

		@Override
		public void afterCompletion(int status) {
			tryIt();
		}

		private void tryIt() {
			assertThatExceptionOfType(OutboxTransactionException.class).isThrownBy(this.append::run)
				.satisfies((ex) -> this.messages.add(String.valueOf(ex.getMessage())));
		}

	}

}
