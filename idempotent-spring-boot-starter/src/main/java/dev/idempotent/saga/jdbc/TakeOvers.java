package dev.idempotent.saga.jdbc;

import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.jdbc.Database;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.run.SagaOwner;
import dev.idempotent.saga.run.StoredSaga;
import org.jspecify.annotations.Nullable;

/**
 * Takes sagas over and renews their leases, without waiting for those that are locked.
 */
final class TakeOvers {

	private static final int MOST_IDS = 500;

	private final Connection connection;

	private final Database database;

	private final String table;

	private final SagaReader reader;

	TakeOvers(Connection connection, Database database, SagaTables tables) {
		this.connection = connection;
		this.database = database;
		this.table = tables.instance();
		this.reader = new SagaReader(database, tables);
	}

	/**
	 * Takes a saga over, and then reads its journal: on PostgreSQL with two statements
	 * that commit one by one, elsewhere within the transaction of the caller.
	 * @return the saga, or {@code null}
	 */
	@Nullable StoredSaga takeOver(IdempotencyKey id, String process, Duration lease) {
		String condition = " from " + this.table + " where id = ? and ((" + SagaSql.IS_OPEN + " and due_at <= "
				+ this.database.now() + ") or (" + SagaSql.UNINDEXED_STATUS
				+ " = 'STARTED' and owner = ?)) for update skip locked";
		if (this.database != Database.POSTGRESQL) {
			return SagaStatements.exists(this.connection, "select 1" + condition, id.digest(), process)
					&& own(id.digest(), process, lease) ? this.reader.find(this.connection, id) : null;
		}
		List<Long> epoch = SagaStatements.query(this.connection,
				own() + " where id = (select id" + condition + ") returning epoch",
				List.<Object>of(lease.toMillis(), process, id.digest(), process), (row, number) -> row.getLong(1));
		StoredSaga taken = epoch.isEmpty() ? null : this.reader.find(this.connection, id);
		// Another process may have taken it over since.
		return (taken != null && epoch.contains(taken.owner().epoch())) ? taken : null;
	}

	/**
	 * Takes over due sagas within the transaction of the caller.
	 */
	List<StoredSaga> takeOverDue(Collection<String> names, String process, Duration lease, int limit) {
		List<Due> due = new ArrayList<>();
		for (SagaStatus status : SagaSql.OPEN) {
			due.addAll(lockDue(status, names, limit));
		}
		List<String> ids = due.stream()
			.sorted(Comparator.comparingLong(Due::micros))
			.limit(limit)
			.map(Due::id)
			.toList();
		if (ids.isEmpty()) {
			return List.of();
		}
		ids.forEach((id) -> own(id, process, lease));
		Map<String, StoredSaga> taken = this.reader.find(this.connection, ids);
		return ids.stream().map((id) -> Objects.requireNonNull(taken.get(id))).toList();
	}

	/**
	 * Locks the first due sagas of a status. The index begins with the status, so that
	 * those that have ended or are halted are not read.
	 */
	private List<Due> lockDue(SagaStatus status, Collection<String> names, int limit) {
		List<Object> parameters = new ArrayList<>();
		parameters.add(status.name());
		parameters.addAll(names);
		parameters.add(limit);
		return SagaStatements.query(this.connection,
				"select id, " + this.database.microsUntil("due_at") + " from " + this.table
						+ " where status = ? and due_at <= " + this.database.nowForIndexes() + " and name"
						+ SagaTables.in(names.size()) + " order by due_at limit ? for update skip locked",
				parameters, (row, number) -> new Due(row.getString(1), row.getLong(2)));
	}

	private boolean own(String id, String process, Duration lease) {
		return SagaStatements.update(this.connection, own() + " where id = ?", lease.toMillis(), process, id) == 1;
	}

	/**
	 * Sets the status last: MySQL uses new values in the assignments that follow.
	 */
	private String own() {
		return "update " + this.table + " set due_at = " + SagaSql.leaseAfterTakeOver(this.database)
				+ ", owner = ?, epoch = epoch + 1, attempts = case when status <> 'COMPENSATING' and deadline <= "
				+ this.database.now() + " then 1 else attempts + 1 end, status = case when "
				+ SagaSql.isUndone(this.database) + " then 'COMPENSATING' else 'EXECUTING' end";
	}

	/**
	 * Renews leases within the transaction of the caller.
	 */
	void renew(List<SagaOwner> owners, Duration lease) {
		for (int from = 0; from < owners.size(); from += MOST_IDS) {
			List<SagaOwner> some = owners.subList(from, Math.min(owners.size(), from + MOST_IDS));
			List<SagaOwner> locked = SagaStatements.query(this.connection,
					"select id, epoch from " + this.table + " where id" + SagaTables.in(some.size()) + " and "
							+ SagaSql.IS_OPEN + " and owner is not null for update skip locked",
					some.stream().map((owner) -> owner.id().digest()).toList(),
					(row, number) -> new SagaOwner(new IdempotencyKey(row.getString(1)), row.getLong(2)));
			locked.retainAll(some);
			String renew = "update " + this.table + " set due_at = " + SagaSql.lease(this.database) + " where id = ?";
			locked.forEach(
					(owner) -> SagaStatements.update(this.connection, renew, lease.toMillis(), owner.id().digest()));
		}
	}

	private record Due(String id, long micros) {
	}

}
