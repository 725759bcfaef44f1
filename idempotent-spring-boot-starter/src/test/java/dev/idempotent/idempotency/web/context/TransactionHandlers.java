package dev.idempotent.idempotency.web.context;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.OnPending;
import dev.idempotent.testing.Gate;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Handlers that respond with the token of the record in their transaction.
 */
@RestController
class TransactionHandlers {

	private final Sightings sightings;

	private final JdbcTemplate database;

	private final Gate gate = new Gate();

	private final AtomicBoolean begun = new AtomicBoolean();

	TransactionHandlers(Sightings sightings, JdbcTemplate database) {
		this.sightings = sightings;
		this.database = database;
	}

	Gate gate() {
		return this.gate;
	}

	@PostMapping("/in-transaction")
	@Idempotent(guarantee = Guarantee.TRANSACTION)
	String inTransaction() {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
			@Override
			public void afterCommit() {
				TransactionHandlers.this.sightings.note("after commit");
			}
		});
		return tokenOnRecord();
	}

	@PostMapping("/fails-at-first")
	@Idempotent(guarantee = Guarantee.TRANSACTION, onPending = OnPending.WAIT)
	String failsAtFirst() throws InterruptedException {
		if (this.begun.compareAndSet(false, true)) {
			this.gate.pass();
			throw new IllegalStateException("The first run went wrong");
		}
		return tokenOnRecord();
	}

	private String tokenOnRecord() {
		this.sightings.note("handler");
		IdempotencyContext context = Objects.requireNonNull(IdempotencyContext.current());
		return Objects.requireNonNull(this.database.queryForObject(
				"select token from idempotency_record where key_digest = ?", String.class, context.key().digest()));
	}

}
