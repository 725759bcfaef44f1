package dev.idempotent.idempotency.web.transaction;

import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class JdbcTransactionRulesIntegrationTests extends TransactionRules {

	JdbcTransactionRulesIntegrationTests() {
		super(TransactionApplication.class, WebApplication.WITH_DATABASE);
	}

	/**
	 * PostgreSQL aborts a transaction at its first failed statement.
	 */
	@Test
	void rollsBackWorkWithACaughtStatementFailure() {
		Attempt attempt = new Attempt("failed-statement");
		assertThat(attempt.send().statusCode()).isEqualTo(500);
		assertThat(attempt.rows()).isZero();
		assertThat(attempt.send().headers().firstValue("Idempotent-Replayed")).isEmpty();
	}

}
