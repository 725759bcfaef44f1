package dev.idempotent.saga.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

import javax.sql.DataSource;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.jdbc.TableSweeper;
import dev.idempotent.saga.SagaSnapshot;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.engine.SagaAdministration;
import dev.idempotent.saga.engine.SagaStore;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sagas of a {@link JdbcSagaStore}, for operators.
 */
public final class JdbcSagaAdministration implements SagaAdministration {

	private static final Logger logger = LoggerFactory.getLogger(JdbcSagaAdministration.class);

	private static final int SEARCHED = 10_000;

	private static final List<SagaStatus> UNENDED = List.of(SagaStatus.COMPENSATING, SagaStatus.EXECUTING,
			SagaStatus.STARTED, SagaStatus.HALTED);

	private final SagaDatabase database;

	/**
	 * Creates the administration of a store.
	 * @param dataSource the data source of the store
	 * @param tables the tables of the store
	 */
	public JdbcSagaAdministration(DataSource dataSource, SagaTables tables) {
		this.database = new SagaDatabase(dataSource, tables);
	}

	/**
	 * Sets the status before {@code halted_in} is cleared: MySQL uses new values in the
	 * assignments that follow.
	 */
	@Override
	public boolean retry(IdempotencyKey id) {
		return this.database
			.runStatement((sql) -> sql.update(
					"update " + sql.instance() + " set status = halted_in, halted_in = null, halt_reason = null, "
							+ "owner = null, attempts = 0, unfit = 0, epoch = epoch + 1, due_at = "
							+ sql.database().now() + " where id = ? and status = 'HALTED' and halted_in is not null",
					id.digest()) == 1);
	}

	/**
	 * Finds the row of the step by its exact name: the database may compare names without
	 * regard to case or trailing blanks.
	 */
	@Override
	public boolean skip(IdempotencyKey id, String step, String note) {
		String ofStep = " saga_id = ? and seq = ? and state <> 'COMPENSATED'";
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
						+ ")", id.digest(), id.digest(), place) == 1;
			if (fenced) {
				sql.update("update " + sql.step() + " set state = 'SKIPPED', note = ?, ended_at = "
						+ sql.database().now() + " where" + ofStep, SagaStore.text(note), id.digest(), place);
			}
			return fenced;
		});
	}

	@Override
	public List<SagaSnapshot> list(@Nullable SagaStatus status, @Nullable String name, int limit) {
		List<SagaStatus> wanted = (status != null) ? List.of(status) : UNENDED;
		return this.database.runInTransaction((sql) -> {
			List<Listed> found = new ArrayList<>();
			wanted.forEach((each) -> found.addAll(list(sql, each, name, limit)));
			return found.stream()
				.sorted(Comparator.comparingLong(Listed::order))
				.limit(limit)
				.map(Listed::saga)
				.toList();
		});
	}

	private List<Listed> list(SagaSql sql, SagaStatus status, @Nullable String name, int limit) {
		boolean ended = SagaSql.ENDED.contains(status);
		String first = "select id, name, status, coalesce(halt_reason, reason) as why, attempts, created_at, deadline, "
				+ sql.database().microsUntil("due_at") + " as due from " + sql.instance()
				+ " where status = ? order by due_at" + (ended ? " desc" : "") + " limit ?";
		List<Object> parameters = new ArrayList<>(List.<Object>of(status.name(), (name != null) ? SEARCHED : limit));
		if (name != null) {
			first = "select * from (" + first + ") searched where name = ? limit ?";
			parameters.addAll(List.<Object>of(name, limit));
		}
		return sql.query(first, parameters, (row, number) -> listed(row, sql.database(), ended));
	}

	private static Listed listed(ResultSet row, Database kind, boolean ended) throws SQLException {
		SagaSnapshot saga = new SagaSnapshot(new IdempotencyKey(row.getString("id")), row.getString("name"),
				SagaStatus.valueOf(row.getString("status")), row.getString("why"), row.getInt("attempts"),
				kind.instant(row, "created_at"), kind.instant(row, "deadline"), List.of());
		long due = row.getLong("due");
		return new Listed(saga, row.wasNull() ? Long.MAX_VALUE : ended ? -due : due);
	}

	@Override
	public Counts count(Collection<String> served, int limit) {
		return this.database.runInTransaction((sql) -> {
			Map<SagaStatus, Integer> counts = new EnumMap<>(SagaStatus.class);
			int unserved = 0;
			boolean exact = true;
			for (SagaStatus status : UNENDED) {
				Count count = count(sql, status, served, limit);
				exact &= count.all() <= limit;
				unserved += status.isOpen() ? count.unserved() : 0;
				if (count.all() > 0) {
					counts.put(status, Math.min(count.all(), limit));
				}
			}
			return new Counts(counts, unserved, oldestDue(sql), exact);
		});
	}

	private Count count(SagaSql sql, SagaStatus status, Collection<String> served, int limit) {
		String isServed = served.isEmpty() ? "1 = 0" : "name" + SagaSql.in(served.size());
		List<Object> parameters = new ArrayList<>(served);
		parameters.add(status.name());
		parameters.add(limit + 1);
		return sql
			.query("select count(*), sum(case when " + isServed + " then 0 else 1 end) from (select name from "
					+ sql.instance() + " where status = ? limit ?) counted", parameters,
					(row, number) -> new Count(row.getInt(1), row.getInt(2)))
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
			return swept;
		});
	}

	/**
	 * Locks rows that no transaction has locked and deletes them with their steps, one by
	 * one: with a list of ids, MySQL may read the whole table and wait for the locks of
	 * others.
	 * @return how many
	 */
	private int delete(SagaSql sql, SagaStatus status, int limit) {
		List<List<String>> ids = sql.query(
				"select id from " + sql.instance() + " where status = ? and due_at <= " + sql.database().nowForIndexes()
						+ " order by due_at limit ? for update skip locked",
				List.<Object>of(status.name(), limit), (row, number) -> List.of(row.getString(1)));
		if (!ids.isEmpty()) {
			Statements.updateEach(sql.connection(), "delete from " + sql.step() + " where saga_id = ?", ids);
			Statements.updateEach(sql.connection(), "delete from " + sql.instance() + " where id = ?", ids);
		}
		return ids.size();
	}

	private record Listed(SagaSnapshot saga, long order) {
	}

	private record Count(int all, int unserved) {
	}

}
