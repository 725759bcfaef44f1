package dev.idempotent.saga.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.jdbc.TableSweeper;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.engine.SagaAdministration;
import dev.idempotent.saga.store.RecordedCall.AtMostOnce;
import dev.idempotent.saga.store.SagaOwner;
import dev.idempotent.saga.store.SagaStore;
import dev.idempotent.transaction.OwnTransactions;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sagas of a {@link JdbcSagaStore}, for operators.
 */
public final class JdbcSagaAdministration implements SagaAdministration {

	private static final Logger logger = LoggerFactory.getLogger(JdbcSagaAdministration.class);

	private static final List<SagaStatus> UNENDED = List.of(SagaStatus.COMPENSATING, SagaStatus.EXECUTING,
			SagaStatus.STARTED, SagaStatus.HALTED);

	/**
	 * The condition that a step must be undone before its saga is compensated.
	 */
	private static final String IS_TO_UNDO = "kind not in ('TRANSACTION', 'CALL', 'SIGNAL', 'SLEEP', 'VERSION') and state not in ('COMPENSATED', "
			+ "'SKIPPED') and (reason is null or kind = 'CANCELLED_CALL')";

	private final SagaDatabase database;

	private final Duration retention;

	/**
	 * Creates the administration of a store.
	 * @param transactions own transactions on the data source of the store
	 * @param tablePrefix the common prefix of the names of the tables
	 * @param retention how long a saga is kept that an operator has closed, and a signal
	 * of a saga that exists before it is looked at again
	 */
	public JdbcSagaAdministration(OwnTransactions transactions, String tablePrefix, Duration retention) {
		this.database = new SagaDatabase(transactions, new SagaTables(tablePrefix));
		this.retention = retention;
	}

	/**
	 * Sets the status before {@code halted_in} is cleared: MySQL uses new values in the
	 * assignments that follow.
	 */
	@Override
	public boolean retry(IdempotencyKey id) {
		return retry(id, null);
	}

	@Override
	public boolean retry(SagaOwner halted) {
		return retry(halted.id(), halted.epoch());
	}

	private boolean retry(IdempotencyKey id, @Nullable Long epoch) {
		List<Object> parameters = new ArrayList<>(List.of(id.digest()));
		if (epoch != null) {
			parameters.add(epoch);
		}
		return this.database.runInTransaction((sql) -> {
			boolean retried = sql
				.update("update " + sql.instance() + " set status = halted_in, halted_in = null, halt_reason = null, "
						+ "owner = null, attempts = 0, unfit = 0, epoch = epoch + 1, due_at = " + sql.database().now()
						+ " where id = ? and status = 'HALTED' and halted_in is not null"
						+ ((epoch != null) ? " and epoch = ?" : ""), parameters.toArray()) == 1;
			if (retried) {
				// The operator has decided that a changed call may be sent, or one that
				// is made at most once, if that was why the saga was halted.
				sql.update(
						"update " + sql.step() + " set call_identity = case when call_identity in ('"
								+ AtMostOnce.REPORTED.text() + "', '" + AtMostOnce.RETRIED.text() + "') then '"
								+ AtMostOnce.RETRIED.text() + "' end where saga_id = ? and call_identity <> ?",
						id.digest(), AtMostOnce.BEGUN.text());
			}
			return retried;
		});
	}

	@Override
	public boolean abort(IdempotencyKey id, String note) {
		return this.database.runInTransaction((sql) -> new SagaCancellation(sql).abort(id, ABORTED + note));
	}

	/**
	 * A step in a transaction has locked the row, and renews the lease when it commits.
	 */
	@Override
	public boolean close(SagaOwner version, String note) {
		String id = version.id().digest();
		String stored = Objects.requireNonNull(SagaStore.text(note));
		return this.database.runInTransaction((sql) -> {
			String unowned = "select 1 from " + sql.instance()
					+ " where id = ? and epoch = ? and (status = 'HALTED' or (" + SagaSql.IS_OPEN + " and due_at <= "
					+ sql.database().millisFromNow() + ")) for update skip locked";
			if (!sql.existsById(unowned, id, version.epoch(), -FORSAKEN.toMillis())) {
				return false;
			}
			sql.update(
					"update " + sql.instance() + " set status = 'COMPENSATED', halted_in = null, halt_reason = null, "
							+ "reason = ?, arguments = null, result = null, owner = null, epoch = epoch + 1, due_at = "
							+ sql.database().millisFromNow() + " where id = ?",
					SagaStore.text(CLOSED + note), this.retention.toMillis(), id);
			sql.update("update " + sql.step() + " set state = 'SKIPPED', note = ?, ended_at = " + sql.database().now()
					+ " where saga_id = ? and " + IS_TO_UNDO, stored, id);
			sql.update("update " + sql.step() + " set result = null, call_identity = null where saga_id = ?", id);
			return true;
		});
	}

	/**
	 * Finds the row of the step by its exact name: the database may compare names without
	 * regard to case or trailing blanks.
	 */
	@Override
	public boolean skip(IdempotencyKey id, String step, String note) {
		String stored = Objects.requireNonNull(SagaStore.text(note));
		String ofStep = " saga_id = ? and seq = ? and state <> 'COMPENSATED' and (state <> 'SKIPPED' or note = ?)";
		return this.database.runInTransaction((sql) -> {
			Integer place = sql
				.query("select seq, name from " + sql.step() + " where saga_id = ?", List.of(id.digest()),
						(row, number) -> step.equals(row.getString(2)) ? row.getInt(1) : -1)
				.stream()
				.max(Comparator.naturalOrder())
				.orElse(-1);
			boolean fenced = sql
				.update("update " + sql.instance() + " set epoch = epoch + 1 where id = ? and status = 'HALTED' "
						+ "and halted_in = 'COMPENSATING' and exists (select 1 from " + sql.step() + " where" + ofStep
						+ ")", id.digest(), id.digest(), place, stored) == 1;
			if (fenced) {
				sql.update("update " + sql.step() + " set state = 'SKIPPED', note = ?, ended_at = "
						+ sql.database().now() + " where" + ofStep, stored, id.digest(), place, stored);
			}
			return fenced;
		});
	}

	@Override
	public boolean expireWait(IdempotencyKey id) {
		return this.database.runInTransaction((sql) -> new SagaSignals(sql).expireWait(id));
	}

	/**
	 * Reads a saga with its steps in one statement, and so at one moment.
	 */
	@Override
	public @Nullable OperatedSaga inspect(IdempotencyKey id) {
		return this.database.runStatement((sql) -> inspect(sql, id));
	}

	private static @Nullable OperatedSaga inspect(SagaSql sql, IdempotencyKey id) {
		Database kind = sql.database();
		String select = columns(kind) + ", t.name as step, t.kind, t.state, t.reason as step_reason, t.note, "
				+ "t.refused_undos, t.begun_at, t.compensating_at, t.ended_at from " + sql.instance() + " s left join "
				+ sql.step() + " t on t.saga_id = s.id where s.id = ? order by t.seq";
		List<OperatedStep> steps = new ArrayList<>();
		return sql.queryById(select, List.of(id.digest()), (row, number) -> {
			readStep(row, kind, steps);
			return saga(row, kind, steps);
		}).stream().findFirst().orElse(null);
	}

	private static String columns(Database kind) {
		return "select s.id, s.name, s.status, s.halted_in, s.epoch, s.owner, s.attempts, s.reason, s.halt_reason, "
				+ "case when s.owner is null and s.status = 'EXECUTING' then s.waits_for end as waits_for, s.created_at, s.deadline, s.due_at, "
				+ kind.microsUntil("s.due_at") + " as due";
	}

	private static OperatedSaga saga(ResultSet row, Database kind, List<OperatedStep> steps) throws SQLException {
		SagaStatus status = SagaStatus.valueOf(row.getString("status"));
		String haltedIn = row.getString("halted_in");
		boolean halted = status == SagaStatus.HALTED;
		return new OperatedSaga(new SagaOwner(new IdempotencyKey(row.getString("id")), row.getLong("epoch")),
				row.getString("name"), status, (haltedIn != null) ? SagaStatus.valueOf(haltedIn) : null,
				halted ? instant(row, kind, "due_at") : null, row.getString("halt_reason"), row.getString("reason"),
				row.getString("owner"), halted ? null : Duration.of(Math.max(0, row.getLong("due")), ChronoUnit.MICROS),
				row.getInt("attempts"), kind.instant(row, "created_at"), kind.instant(row, "deadline"),
				row.getString("waits_for"), steps);
	}

	private static void readStep(ResultSet row, Database kind, List<OperatedStep> steps) throws SQLException {
		String name = row.getString("step");
		if (name != null) {
			steps
				.add(new OperatedStep(name, row.getString("kind"), row.getString("state"), row.getString("step_reason"),
						row.getString("note"), row.getInt("refused_undos"), kind.instant(row, "begun_at"),
						instant(row, kind, "compensating_at"), instant(row, kind, "ended_at")));
		}
	}

	private static @Nullable Instant instant(ResultSet row, Database kind, String column) throws SQLException {
		return (row.getObject(column) != null) ? kind.instant(row, column) : null;
	}

	@Override
	public Page list(@Nullable SagaStatus status, @Nullable String name, @Nullable String after, int limit) {
		Position start = (after != null) ? Position.parse(after) : null;
		return this.database.runInTransaction((sql) -> {
			List<Listed> page = (status != null) ? list(sql, status, name, start, limit)
					: unended(sql, name, start, limit);
			String next = (page.size() == limit) ? page.get(limit - 1).position().toString() : null;
			return new Page(page.stream().map(Listed::saga).toList(), next);
		});
	}

	/**
	 * Lists open sagas, and halted ones after the last of them.
	 */
	private static List<Listed> unended(SagaSql sql, @Nullable String name, @Nullable Position start, int limit) {
		List<Listed> page = new ArrayList<>();
		boolean halted = start != null && start.halted();
		if (!halted) {
			SagaSql.OPEN.forEach((status) -> page.addAll(list(sql, status, name, start, limit)));
			page.sort(Comparator.comparing(Listed::position));
			page.subList(Math.min(limit, page.size()), page.size()).clear();
		}
		if (page.size() < limit) {
			page.addAll(list(sql, SagaStatus.HALTED, name, halted ? start : null, limit - page.size()));
		}
		return page;
	}

	/**
	 * Lists the sagas of a status by the time at which they are due, and equal ones by
	 * their ids. The index has the time only: what is equal to the first or last one of a
	 * page is read by itself, so that no plan sorts all sagas of the status. H2 reads an
	 * index in its order only if the order names all of its columns.
	 */
	private static List<Listed> list(SagaSql sql, SagaStatus status, @Nullable String name, @Nullable Position start,
			int limit) {
		boolean ended = SagaSql.ENDED.contains(status);
		String by = ended ? " desc" : "";
		String order = "s.status" + by + ((name != null) ? ", s.name" + by : "") + ", s.due_at" + by;
		List<Listed> page = new ArrayList<>();
		String range = "";
		if (start != null) {
			page.addAll(equal(sql, status, name, start, limit));
			range = " and s.due_at " + (ended ? "< " : "> ") + sql.database().literal(start.due());
		}
		int rest = limit - page.size();
		if (rest > 0) {
			List<Listed> more = new ArrayList<>(read(sql, status, name, range, order, rest + 1));
			if (more.size() > rest) {
				Instant cut = more.get(rest).position().due();
				more.removeIf((listed) -> listed.position().due().equals(cut));
				more.addAll(equal(sql, status, name, new Position(false, cut, ""), rest - more.size()));
			}
			Comparator<Position> byDue = Comparator.comparing(Position::due);
			more.sort(Comparator.comparing(Listed::position,
					(ended ? byDue.reversed() : byDue).thenComparing(Position::id)));
			page.addAll(more);
		}
		return page;
	}

	/**
	 * Lists the sagas that are due at the same time, after one of them. PostgreSQL would
	 * otherwise read all ids in their order while statistics count few sagas.
	 */
	private static List<Listed> equal(SagaSql sql, SagaStatus status, @Nullable String name, Position start,
			int limit) {
		String id = "coalesce(s.id, '')";
		String equal = " and s.due_at = " + sql.database().literal(start.due()) + " and " + id + " > ?";
		return (limit > 0) ? read(sql, status, name, equal, id, limit, start.id()) : List.of();
	}

	private static List<Listed> read(SagaSql sql, SagaStatus status, @Nullable String name, String range, String order,
			int limit, Object... operands) {
		List<Object> parameters = new ArrayList<>(List.of(status.name()));
		if (name != null) {
			parameters.add(name);
		}
		parameters.addAll(List.of(operands));
		parameters.add(limit);
		Database kind = sql.database();
		return sql.query(
				columns(kind) + " from " + sql.instance() + " s where s.status = ?"
						+ ((name != null) ? " and s.name = ?" : "") + range + " order by " + order + " limit ?",
				parameters, (row, number) -> new Listed(saga(row, kind, List.of()),
						new Position(status == SagaStatus.HALTED, kind.instant(row, "due_at"), row.getString("id"))));
	}

	@Override
	public Counts count(Collection<String> served, int limit) {
		return this.database.runInTransaction((sql) -> {
			Map<SagaStatus, Integer> counts = new EnumMap<>(SagaStatus.class);
			int waiting = 0;
			int unserved = 0;
			boolean exact = true;
			for (SagaStatus status : UNENDED) {
				Count count = count(sql, status, served, limit);
				exact &= count.all() <= limit;
				waiting += (status == SagaStatus.EXECUTING) ? Math.min(count.waiting(), limit) : 0;
				unserved += status.isOpen() ? count.unserved() : 0;
				if (count.all() > 0) {
					counts.put(status, Math.min(count.all(), limit));
				}
			}
			return new Counts(counts, waiting, unserved, oldestDue(sql), exact);
		});
	}

	private Count count(SagaSql sql, SagaStatus status, Collection<String> served, int limit) {
		String isServed = served.isEmpty() ? "1 = 0" : "name" + SagaSql.in(served.size());
		List<Object> parameters = new ArrayList<>(served);
		parameters.add(status.name());
		parameters.add(limit + 1);
		return sql
			.query("select count(*), sum(case when owner is null and waits_for is not null then 1 else 0 end), "
					+ "sum(case when " + isServed + " then 0 else 1 end) from (select name, owner, waits_for from "
					+ sql.instance() + " where status = ? limit ?) counted", parameters,
					(row, number) -> new Count(row.getInt(1), row.getInt(2), row.getInt(3)))
			.get(0);
	}

	private Duration oldestDue(SagaSql sql) {
		long oldest = 0;
		for (SagaStatus status : SagaSql.OPEN) {
			List<Long> due = sql.query(
					"select " + sql.database().microsUntil("due_at") + " from " + sql.instance()
							+ " where status = ? order by due_at limit 1",
					List.of(status.name()), (row, number) -> row.getLong(1));
			oldest = due.isEmpty() ? oldest : Math.max(oldest, -due.get(0));
		}
		return Duration.of(oldest, ChronoUnit.MICROS);
	}

	/**
	 * Creates a sweeper of ended sagas.
	 * @param interval the pause between two sweeps
	 * @return deletes those whose retention has ended; not started
	 */
	public TableSweeper sweeper(Duration interval) {
		return new TableSweeper("saga-sweeper", "Ended sagas", interval, this::sweep,
				(swept) -> logger.debug("Deleted {} ended sagas", swept));
	}

	private int sweep(int limit) {
		return this.database.runInTransaction((sql) -> {
			int swept = 0;
			for (SagaStatus status : SagaSql.ENDED) {
				swept += delete(sql, status, limit - swept);
			}
			return swept + new SagaSignals(sql).sweep(limit - swept, this.retention);
		});
	}

	/**
	 * Locks rows that no transaction has locked and deletes them with their steps and
	 * signals, one by one: with a list of ids, MySQL may read the whole table and wait
	 * for the locks of others.
	 * @return how many
	 */
	private int delete(SagaSql sql, SagaStatus status, int limit) {
		List<List<String>> ids = sql.query(
				"select id from " + sql.instance() + " where status = ? and due_at <= " + sql.database().nowForIndexes()
						+ " order by due_at limit ? for update skip locked",
				List.<Object>of(status.name(), limit), (row, number) -> List.of(row.getString(1)));
		if (!ids.isEmpty()) {
			int unused = Statements.updateEach(sql.connection(), "delete from " + sql.step() + " where saga_id = ?",
					ids);
			int unusedSignals = Statements.updateEach(sql.connection(),
					"delete from " + sql.signal() + " where saga_id = ?", ids);
			Statements.changeEach(sql.connection(), "delete from " + sql.instance() + " where id = ?", ids);
		}
		return ids.size();
	}

	private record Listed(OperatedSaga saga, Position position) {
	}

	/**
	 * The place of a saga in a list.
	 *
	 * @param halted whether it is halted: in a list of several statuses, these come last
	 */
	private record Position(boolean halted, Instant due, String id) implements Comparable<Position> {

		private static final Pattern TEXT = Pattern.compile("([oh])(\\d{1,17})-([^\\x00]{1,64})");

		static Position parse(String text) {
			Matcher parts = TEXT.matcher(text);
			if (!parts.matches()) {
				throw new IllegalArgumentException("This is not the end of a page");
			}
			return new Position(parts.group(1).equals("h"),
					Instant.EPOCH.plus(Long.parseLong(parts.group(2)), ChronoUnit.MICROS), parts.group(3));
		}

		@Override
		public int compareTo(Position other) {
			return Comparator.comparing(Position::due).thenComparing(Position::id).compare(this, other);
		}

		@Override
		public String toString() {
			return (this.halted ? "h" : "o") + ChronoUnit.MICROS.between(Instant.EPOCH, this.due) + "-" + this.id;
		}

	}

	private record Count(int all, int waiting, int unserved) {
	}

}
