package dev.idempotent.outbox.jdbc;

import dev.idempotent.IdempotentConfigurationException;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What is promised about a database that does not number rows in the order of their
 * inserts. Needs tables of its own.
 */
abstract class OrderedIdsContract {

	abstract OrderedOnTables tested();

	@Test
	void acceptsTheTablesOfTheScript() {
		assertThatCode(() -> tested().tables().check().requireIncreasingRows()).doesNotThrowAnyException();
	}

	/**
	 * Rejects a database, with a message and an action that have these parts.
	 */
	static void rejects(OutboxTableCheck check, String message, String action) {
		assertThatExceptionOfType(IdempotentConfigurationException.class).isThrownBy(check::requireIncreasingRows)
			.withMessageContainingAll(message, "another order")
			.satisfies((ex) -> assertThat(ex.getAction()).contains(action, "idempotent.outbox.order=none"));
	}

}
