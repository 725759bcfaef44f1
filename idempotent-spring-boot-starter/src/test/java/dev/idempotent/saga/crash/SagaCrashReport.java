package dev.idempotent.saga.crash;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.crash.SagaAudit.Effect;
import dev.idempotent.saga.crash.SagaClient.PlacedSaga;
import dev.idempotent.testing.Tally;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * What was done and found in a run.
 *
 * @param duration how long there were faults
 * @param quiet how long it took afterwards until everything had ended
 * @param tally all counts
 * @param violations what is wrong, by saga
 */
record SagaCrashReport(Duration duration, Duration quiet, Tally tally, Map<String, List<String>> violations) {

	private static final String OPEN = "select count(*) from saga_instance "
			+ "where status not in ('COMPLETED', 'COMPENSATED', 'HALTED')";

	private static final String INSTANCE = "select epoch, steps, attempts, reason, halt_reason, created_at, deadline "
			+ "from saga_instance where id = ?";

	private static final String STEPS = "select name, seq, kind, state, reason, begun_at, compensating_at, ended_at "
			+ "from saga_step where saga_id = ? order by seq";

	/**
	 * Audits the sagas of a run that is over.
	 */
	static SagaCrashReport of(Duration duration, Duration quiet, Tally tally, Collection<PlacedSaga> placed,
			JdbcClient database) {
		Map<String, SagaStatus> statuses = database.sql("select id, status from saga_instance")
			.query((row, number) -> Map.entry(row.getString(1), SagaStatus.valueOf(row.getString(2))))
			.stream()
			.collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
		Map<String, List<Effect>> effects = database.sql("select saga, kind, ref from effect order by id")
			.query((row, number) -> new Effect(row.getString(1), row.getString(2), row.getString(3)))
			.stream()
			.collect(Collectors.groupingBy(Effect::saga));
		Map<String, List<String>> violations = new TreeMap<>();
		for (PlacedSaga saga : placed) {
			SagaStatus status = statuses.get(digestOf(saga));
			List<Effect> own = effects.getOrDefault(saga.id(), List.of());
			tally.count("saga " + ((status != null) ? status : "not stored"));
			own.forEach((effect) -> tally.count("effect " + effect.kind()));
			List<String> found = SagaAudit.violations(saga, status, own);
			if (!found.isEmpty()) {
				violations.put(describe(saga, status, own, database), found);
			}
		}
		return new SagaCrashReport(duration, quiet, tally, violations);
	}

	/**
	 * Counts the sagas that have not ended.
	 */
	static long open(JdbcClient database) {
		return database.sql(OPEN).query(Long.class).single();
	}

	private static String describe(PlacedSaga saga, @Nullable SagaStatus status, List<Effect> effects,
			JdbcClient database) {
		return "%s %s %s %s %s".formatted(saga, status, effects,
				database.sql(INSTANCE).param(digestOf(saga)).query().listOfRows(),
				database.sql(STEPS).param(digestOf(saga)).query().listOfRows());
	}

	private static String digestOf(PlacedSaga saga) {
		return IdempotencyKey.of(IdempotencyKey.Kind.SAGA, SagaSite.NAMESPACE, "", Checkout.NAME, '"' + saga.id() + '"')
			.digest();
	}

	@Override
	public String toString() {
		return """
				Crash run of sagas, %s
				  sagas       %s
				  effects     %s
				  answers     %s
				  deaths      %d: kill %d · %s
				  faults      %s
				  network     %s
				  quiet       everything had ended %d ms after everything was up
				  violations  %s""".formatted(this.duration, this.tally.list("saga "), this.tally.list("effect "),
				this.tally.list("answer "), this.tally.sum("kill") + this.tally.sum("halt at "), this.tally.sum("kill"),
				this.tally.list("halt at "), this.tally.list("fault "), this.tally.list("network "),
				this.quiet.toMillis(), this.violations.isEmpty() ? "none" : this.violations);
	}

}
