package dev.idempotent.idempotency.jdbc;

import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

import javax.sql.DataSource;

import dev.idempotent.idempotency.IdempotencyStore.Renewal;
import dev.idempotent.jdbc.KeptConnection;
import dev.idempotent.jdbc.NonTransactionalConnections;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;

/**
 * Renews the leases of many keys in one batch, on a connection outside of the pool if
 * there is one.
 */
final class BatchedRenewals implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(BatchedRenewals.class);

	private final NonTransactionalConnections pooled;

	private final @Nullable KeptConnection kept;

	private final IdempotencyRecords records;

	private final AtomicBoolean failing = new AtomicBoolean();

	BatchedRenewals(NonTransactionalConnections pooled, @Nullable DataSource unpooled, IdempotencyRecords records) {
		this.pooled = pooled;
		this.kept = (unpooled != null) ? new KeptConnection(unpooled) : null;
		this.records = records;
	}

	/**
	 * Renews what it can.
	 * @return the keys of which the database says so; none, with a warning once per
	 * outage, if it does not answer
	 */
	Set<Renewal> renew(List<Renewal> held) {
		try {
			Set<Renewal> renewed = (this.kept != null)
					? this.kept.run((connection) -> this.records.renew(connection, held))
					: this.pooled.runInTransaction((connection) -> this.records.renew(connection, held));
			this.failing.set(false);
			return renewed;
		}
		catch (DataAccessException ex) {
			if (this.failing.compareAndSet(false, true)) {
				logger.warn("The leases of {} keys could not be renewed together; they are renewed one by one, "
						+ "through the application's pool", held.size(), ex);
			}
			return Set.of();
		}
	}

	@Override
	public void close() {
		if (this.kept != null) {
			this.kept.close();
		}
	}

}
