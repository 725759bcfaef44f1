package dev.idempotent.saga.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.jdbc.Database;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.store.SagaOwner;
import dev.idempotent.saga.store.StoredSaga;
import org.jspecify.annotations.Nullable;

/**
 * Takes sagas over and renews their leases, without waiting for those that are locked.
 */
final class TakeOvers {

	private static final int MOST_IDS = 500;

	private static final String TAKEN = "id, name, epoch, status, attempts, unfit";

	private final SagaSql sql;

	private final Database database;

	private final String table;

	TakeOvers(SagaSql sql) {
		this.sql = sql;
		this.database = sql.database();
		this.table = sql.instance();
	}

	/**
	 * Takes a saga over: on PostgreSQL with one statement, elsewhere within the
	 * transaction of the caller.
	 * @return the saga, or {@code null}
	 */
	@Nullable StoredSaga takeOver(IdempotencyKey id, String process, Duration lease) {
		String condition = " from " + this.table + " where id = ? and " + SagaSql.IS_OPEN + " and due_at <= "
				+ this.database.now() + " for update skip locked";
		if (!this.database.combinesChanges()) {
			return this.sql.existsById("select 1" + condition, id.digest()) && own(id.digest(), process, lease)
					? taken(id.digest()) : null;
		}
		return this.sql
			.queryById(own() + " where id = (select id" + condition + ") returning " + TAKEN,
					List.<Object>of(lease.toMillis(), process, id.digest()), TakeOvers::taken)
			.stream()
			.findFirst()
			.orElse(null);
	}

	/**
	 * Takes over due sagas within the transaction of the caller.
	 */
	List<StoredSaga> takeOverDue(Collection<String> names, String process, Duration lease, int limit) {
		List<String> ids = withDueSagas(names).stream()
			.flatMap((queue) -> lockDue(queue, limit).stream())
			.sorted(Comparator.comparingLong(Due::micros))
			.limit(limit)
			.map(Due::id)
			.toList();
		ids.forEach((id) -> own(id, process, lease));
		return ids.stream().map(this::taken).toList();
	}

	/**
	 * Finds the statuses and names of due sagas. The index begins with both, so that
	 * neither those that have ended or are halted are read, nor those with names that
	 * this process does not serve.
	 */
	private List<Queue> withDueSagas(Collection<String> names) {
		List<Queue> all = new ArrayList<>();
		SagaSql.OPEN.forEach((status) -> names.forEach((name) -> all.add(new Queue(status, name))));
		List<Queue> due = new ArrayList<>();
		for (int from = 0; from < all.size(); from += MOST_IDS) {
			List<Queue> some = all.subList(from, Math.min(all.size(), from + MOST_IDS));
			String sql = "select "
					+ String.join(", ", Collections.nCopies(some.size(), "exists (select 1" + fromQueue() + ")"));
			List<Object> parameters = new ArrayList<>();
			some.forEach((queue) -> parameters.addAll(List.of(queue.status().name(), queue.name())));
			List<List<Queue>> found = this.sql.query(sql, parameters, (row, number) -> {
				List<Queue> filled = new ArrayList<>();
				for (int i = 0; i < some.size(); i++) {
					if (row.getBoolean(i + 1)) {
						filled.add(some.get(i));
					}
				}
				return filled;
			});
			due.addAll(found.get(0));
		}
		return due;
	}

	/**
	 * Locks the first due sagas of a status and a name, which the database may compare
	 * without regard to case or trailing blanks.
	 */
	private List<Due> lockDue(Queue queue, int limit) {
		List<Due> locked = this.sql.query(
				"select id, name, " + this.database.microsUntil("due_at") + fromQueue()
						+ " order by due_at limit ? for update skip locked",
				List.<Object>of(queue.status().name(), queue.name(), limit),
				(row, number) -> new Due(row.getString(1), row.getString(2), row.getLong(3)));
		return locked.stream().filter((due) -> due.name().equals(queue.name())).toList();
	}

	private String fromQueue() {
		return " from " + this.table + " where status = ? and name = ? and due_at <= " + this.database.nowForIndexes();
	}

	private StoredSaga taken(String id) {
		return this.sql
			.query("select " + TAKEN + " from " + this.table + " where id = ?", List.of(id), TakeOvers::taken)
			.get(0);
	}

	private static StoredSaga taken(ResultSet row, int number) throws SQLException {
		return StoredSaga.unread(new SagaOwner(new IdempotencyKey(row.getString("id")), row.getLong("epoch")),
				row.getString("name"), SagaStatus.valueOf(row.getString("status")), row.getInt("attempts"),
				row.getInt("unfit"));
	}

	private boolean own(String id, String process, Duration lease) {
		return this.sql.update(own() + " where id = ?", lease.toMillis(), process, id) == 1;
	}

	/**
	 * Sets the status last: MySQL uses new values in the assignments that follow.
	 */
	private String own() {
		String undone = "status = 'COMPENSATING' or deadline <= " + this.database.now();
		return "update " + this.table + " set due_at = " + this.sql.lease()
				+ ", owner = ?, waits_for = null, epoch = epoch + 1, attempts = case when status <> 'COMPENSATING' and deadline <= "
				+ this.database.now() + " then 1 else attempts + 1 end, status = case when " + undone
				+ " then 'COMPENSATING' else 'EXECUTING' end";
	}

	/**
	 * Renews leases within the transaction of the caller, also of sagas that are late or
	 * cancelled, so that no other owner undoes them while their actions run. A lease that
	 * has ended for a while is not renewed, and an abort lets it end that long ago.
	 */
	void renew(List<SagaOwner> owners, Duration lease) {
		for (int from = 0; from < owners.size(); from += MOST_IDS) {
			List<SagaOwner> some = owners.subList(from, Math.min(owners.size(), from + MOST_IDS));
			List<Object> parameters = new ArrayList<>(some.stream().map((owner) -> owner.id().digest()).toList());
			parameters.add(-SagaCancellation.ENDED_BEFORE.dividedBy(2).toMillis());
			List<SagaOwner> locked = this.sql.query(
					"select id, epoch from " + this.table + " where id" + SagaSql.in(some.size()) + " and "
							+ SagaSql.IS_OPEN + " and owner is not null and due_at > " + this.database.millisFromNow()
							+ " for update skip locked",
					parameters, (row, number) -> new SagaOwner(new IdempotencyKey(row.getString(1)), row.getLong(2)));
			locked.retainAll(some);
			String renew = "update " + this.table + " set due_at = " + this.sql.lease() + " where id = ?";
			locked.forEach((owner) -> this.sql.update(renew, lease.toMillis(), owner.id().digest()));
		}
	}

	private record Queue(SagaStatus status, String name) {
	}

	private record Due(String id, String name, long micros) {
	}

}
