package dev.idempotent.idempotency.jdbc;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

import dev.idempotent.idempotency.IdempotencyStore.Renewal;
import dev.idempotent.transaction.OwnTransactions;
import dev.idempotent.concurrent.OutageLog;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;

/**
 * Renews the leases of many keys in one batch: on a connection outside the pool if there
 * is one, so that renewals never wait for an exhausted pool.
 */
final class BatchedRenewals {

	private static final Logger logger = LoggerFactory.getLogger(BatchedRenewals.class);

	/**
	 * The number of keys in one statement, far below the limits of drivers.
	 */
	private static final int BATCH = 500;

	private final OwnTransactions pooled;

	private final @Nullable KeptConnection unpooled;

	private final IdempotencyRecords records;

	private final OutageLog outage = new OutageLog(logger,
			"Leases could not be renewed together; they are renewed one by one, through the application's pool",
			"Leases are renewed together again");

	BatchedRenewals(OwnTransactions pooled, @Nullable KeptConnection unpooled, IdempotencyRecords records) {
		this.pooled = pooled;
		this.unpooled = unpooled;
		this.records = records;
	}

	/**
	 * Renews leases.
	 * @return the renewals that are certain to have succeeded; none, with one warning per
	 * outage, if the database does not respond
	 */
	Set<Renewal> renew(List<Renewal> held) {
		long start = System.nanoTime();
		try {
			Set<Renewal> renewed = new HashSet<>();
			for (int from = 0; from < held.size(); from += BATCH) {
				renewed.addAll(renewBatch(held.subList(from, Math.min(from + BATCH, held.size()))));
			}
			this.outage.succeeded(start);
			return renewed;
		}
		catch (DataAccessException ex) {
			this.outage.failed(start, ex);
			return Set.of();
		}
	}

	private Set<Renewal> renewBatch(List<Renewal> held) {
		return (this.unpooled != null) ? this.unpooled.run((connection) -> this.records.renew(connection, held))
				: this.pooled.runInTransaction((connection) -> this.records.renew(connection, held));
	}

}
