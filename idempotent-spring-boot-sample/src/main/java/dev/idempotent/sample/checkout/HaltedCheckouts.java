package dev.idempotent.sample.checkout;

import java.time.Duration;

import javax.sql.DataSource;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.engine.SagaAdministration;
import dev.idempotent.saga.jdbc.JdbcSagaAdministration;
import dev.idempotent.transaction.OwnTransactions;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.stereotype.Component;

/**
 * Retries halted checkouts, or skips steps of them. The actuator's endpoint {@code saga}
 * offers the same over HTTP.
 */
@Component
class HaltedCheckouts {

	private final SagaAdministration sagas;

	HaltedCheckouts(ObjectProvider<SagaAdministration> sagas, DataSource dataSource) {
		this.sagas = sagas.getIfAvailable(
				() -> new JdbcSagaAdministration(new OwnTransactions(dataSource), "saga_", Duration.ofHours(24)));
	}

	/**
	 * Continues a halted checkout.
	 * @return {@code false} if it is not halted
	 */
	boolean retry(String id) {
		return this.sagas.retry(new IdempotencyKey(id));
	}

	/**
	 * Records that a step was undone by hand, and continues the checkout.
	 * @return {@code false} if the checkout is not halted or does not have the step
	 */
	boolean skip(String id, String step, String note) {
		return this.sagas.skip(new IdempotencyKey(id), step, note) && retry(id);
	}

}
