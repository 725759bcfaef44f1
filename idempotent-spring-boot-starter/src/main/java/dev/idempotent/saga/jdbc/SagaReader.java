package dev.idempotent.saga.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.jdbc.Database;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.StepState;
import dev.idempotent.saga.engine.SagaStore;
import dev.idempotent.saga.engine.SagaStore.JournalEntry;
import dev.idempotent.saga.engine.SagaStore.SagaOwner;
import dev.idempotent.saga.engine.SagaStore.StepKind;
import dev.idempotent.saga.engine.SagaStore.StoredSaga;
import dev.idempotent.saga.engine.SagaStore.StoredStep;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataRetrievalFailureException;

/**
 * Reads a saga with its steps, in one statement and so at one moment.
 */
final class SagaReader {

	private static final String COLUMNS = "select s.id, s.name, s.status, s.epoch, s.steps, s.attempts, s.unfit, "
			+ "s.fingerprint_version, s.fingerprint_digest, "
			+ "case when row_number() over (partition by s.id order by t.seq) = 1 then s.arguments end as arguments, "
			+ "s.result, coalesce(s.halt_reason, s.reason) as reason, s.created_at, s.deadline, t.name as step, t.seq, "
			+ "t.kind, t.state, t.result as step_result, t.reason as step_reason, t.refused_undos, " + "t.note, ";

	private final Database database;

	private final String select;

	SagaReader(Database database, SagaTables tables) {
		this.database = database;
		this.select = COLUMNS + database.microsUntil("s.due_at") + " as due, " + database.millisSince("s.created_at")
				+ " as age, " + database.millisSince("t.begun_at") + " as step_age, "
				+ database.millisSince("t.compensating_at") + " as compensating from " + tables.instance()
				+ " s left join " + tables.step() + " t on t.saga_id = s.id where s.id";
	}

	@Nullable StoredSaga find(Connection connection, IdempotencyKey id) {
		return SagaSql
			.query(connection, this.select + " = ? order by t.seq", List.of(id.digest()), (row, number) -> saga(row))
			.stream()
			.reduce(SagaReader::withJournalOf)
			.orElse(null);
	}

	private static StoredSaga withJournalOf(StoredSaga saga, StoredSaga next) {
		List<StoredStep> journal = new ArrayList<>(saga.journal());
		journal.addAll(next.journal());
		return new StoredSaga(saga.owner(), saga.name(), saga.status(), saga.steps(), saga.attempts(), saga.unfit(),
				saga.fingerprint(), saga.arguments(), saga.result(), saga.reason(), saga.due(), saga.age(),
				saga.createdAt(), saga.deadline(), journal, null);
	}

	private StoredSaga saga(ResultSet row) throws SQLException {
		return new StoredSaga(new SagaOwner(new IdempotencyKey(row.getString("id")), row.getLong("epoch")),
				row.getString("name"), SagaStatus.valueOf(row.getString("status")), row.getInt("steps"),
				row.getInt("attempts"), row.getInt("unfit"),
				new Fingerprint(row.getInt("fingerprint_version"), row.getString("fingerprint_digest")),
				row.getBytes("arguments"), row.getBytes("result"), row.getString("reason"),
				Duration.of(row.getLong("due"), ChronoUnit.MICROS), millis(row, "age"),
				instant(row, this.database, "created_at"), instant(row, this.database, "deadline"), steps(row), null);
	}

	private static List<StoredStep> steps(ResultSet row) throws SQLException {
		String name = row.getString("step");
		if (name == null) {
			return List.of();
		}
		JournalEntry entry = new JournalEntry(name, row.getInt("seq"), known(StepKind.class, name, "kind", row),
				known(StepState.class, name, "state", row), row.getBytes("step_result"), row.getString("step_reason"),
				row.getInt("refused_undos"));
		return List
			.of(new StoredStep(entry, millis(row, "step_age"), millis(row, "compensating"), row.getString("note")));
	}

	/**
	 * Reads a constant, which a later version of the application may have written.
	 */
	private static <E extends Enum<E>> E known(Class<E> type, String step, String column, ResultSet row)
			throws SQLException {
		String value = String.valueOf(row.getString(column));
		return Stream.of(type.getEnumConstants())
			.filter((constant) -> constant.name().equals(value))
			.findFirst()
			.orElseThrow(() -> new DataRetrievalFailureException("The step '" + step + "' has the " + column + " '"
					+ value + "', which is unknown in this version of the application"));
	}

	private static Duration millis(ResultSet row, String column) throws SQLException {
		return Duration.ofMillis(Math.max(0, row.getLong(column)));
	}

	/**
	 * Reads a time, which MySQL stores in UTC and without its zone.
	 */
	static Instant instant(ResultSet row, Database database, String column) throws SQLException {
		return (database == Database.MYSQL)
				? Objects.requireNonNull(row.getObject(column, LocalDateTime.class)).toInstant(ZoneOffset.UTC)
				: Objects.requireNonNull(row.getObject(column, OffsetDateTime.class)).toInstant();
	}

}
