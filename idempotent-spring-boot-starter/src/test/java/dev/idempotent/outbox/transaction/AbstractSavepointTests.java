package dev.idempotent.outbox.transaction;

import java.util.Objects;

import dev.idempotent.outbox.OutboxTransactionException;
import org.junit.jupiter.api.Test;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Which events remain after a part of a transaction is rolled back.
 */
abstract class AbstractSavepointTests extends AbstractOutboxTransactionTests {

	@Test
	void dropsOnlyTheEventsOfANestedTransaction() {
		inTransaction((outbox) -> {
			append("before");
			template(TransactionDefinition.PROPAGATION_NESTED).executeWithoutResult((nested) -> {
				append("lost");
				template(TransactionDefinition.PROPAGATION_NESTED).executeWithoutResult((deeper) -> append("lost too"));
				nested.setRollbackOnly();
			});
			append("after");
			template(TransactionDefinition.PROPAGATION_NESTED).executeWithoutResult((nested) -> append("nested"));
		});
		assertThat(events()).containsExactly("before", "after", "nested");
	}

	@Test
	void keepsTheEventsBehindANestedTransactionWithTheFirstOne() {
		inTransaction((outbox) -> {
			template(TransactionDefinition.PROPAGATION_NESTED).executeWithoutResult((nested) -> append("nested"));
			append("after");
		});
		inTransaction((outbox) -> {
			template(TransactionDefinition.PROPAGATION_NESTED).executeWithoutResult((nested) -> {
				append("lost");
				nested.setRollbackOnly();
			});
			append("only");
		});
		assertThat(events()).containsExactly("nested", "after", "only");
	}

	@Test
	void dropsTheEventsAfterASavepoint() {
		template(TransactionDefinition.PROPAGATION_REQUIRED).executeWithoutResult((status) -> {
			append("before");
			Object savepoint = status.createSavepoint();
			append("lost");
			status.rollbackToSavepoint(savepoint);
			append("between");
			status.rollbackToSavepoint(savepoint);
			append("after");
			status.releaseSavepoint(savepoint);
		});
		assertThat(events()).containsExactly("before", "after");
	}

	@Test
	void dropsALateEventAfterASavepoint() {
		TransactionStatus[] status = new TransactionStatus[1];
		template(TransactionDefinition.PROPAGATION_REQUIRED).executeWithoutResult((own) -> {
			status[0] = own;
			beforeCommit(() -> {
				TransactionStatus open = Objects.requireNonNull(status[0]);
				append("late");
				Object savepoint = open.createSavepoint();
				append("lost");
				open.rollbackToSavepoint(savepoint);
			});
		});
		assertThat(events()).containsExactly("late");
	}

	@Test
	void dropsOnlyTheLateEventsOfANestedTransaction() {
		inTransaction((outbox) -> {
			append("early");
			beforeCommit(() -> {
				append("late");
				template(TransactionDefinition.PROPAGATION_NESTED).executeWithoutResult((nested) -> {
					append("lost");
					nested.setRollbackOnly();
				});
				template(TransactionDefinition.PROPAGATION_NESTED).executeWithoutResult((nested) -> append("nested"));
			});
		});
		assertThat(events()).containsExactly("early", "late", "nested");
	}

	@Test
	void dropsLateEventsAfterASavepointBeforeTheFirstEvent() {
		template(TransactionDefinition.PROPAGATION_REQUIRED).executeWithoutResult((status) -> {
			Object savepoint = status.createSavepoint();
			append("lost");
			beforeCommit(() -> {
				append("late and lost");
				status.rollbackToSavepoint(savepoint);
				append("late");
			});
		});
		assertThat(events()).containsExactly("late");
	}

	/**
	 * The events before the savepoint were inserted after it.
	 */
	@Test
	void rejectsARollbackThatWouldLoseEvents() {
		template(TransactionDefinition.PROPAGATION_REQUIRED).executeWithoutResult((status) -> {
			append("before");
			Object savepoint = status.createSavepoint();
			append("behind");
			beforeCommit(() -> assertThatExceptionOfType(OutboxTransactionException.class)
				.isThrownBy(() -> status.rollbackToSavepoint(savepoint))
				.withMessageContaining("savepoint"));
		});
		assertThat(events()).containsExactly("before", "behind");
	}

}
