package dev.idempotent.benchmark.outbox;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import javax.sql.DataSource;

import dev.idempotent.benchmark.Database;
import dev.idempotent.benchmark.Report;
import dev.idempotent.benchmark.Samples;
import dev.idempotent.benchmark.Scenario;
import org.springframework.util.Assert;

/**
 * How long one claim of 500 rows takes, depending on what else is there: nothing, a
 * backlog that is due, rows that wait for later, a backlog that came at once after the
 * queue was empty and idle, and dead rows that an old snapshot keeps from being removed
 * while the queue goes on.
 */
final class ClaimScenario implements Scenario {

	private static final int BATCH = 500;

	private static final String SNAPSHOT = "snapshot held";

	private static final String BURST = "burst after idling";

	/**
	 * More than it takes until driver and server keep the statement and its plan.
	 */
	private static final int IDLE_CLAIMS = 20;

	private static final double NANOS_PER_MILLI = 1e6;

	private final String contender;

	private final Database database;

	private final ClaimProbe probe;

	private final Size size;

	ClaimScenario(String contender, Database database, ClaimProbe probe, Size size) {
		this.contender = contender;
		this.database = database;
		this.probe = probe;
		this.size = size;
	}

	@Override
	public String name() {
		return "claim of 500";
	}

	@Override
	public void round(int number, Report report) {
		beside(0, 0);
		double alone = claims("alone", report);
		beside(this.size.rest(), 0);
		relate("due backlog", claims("due backlog", report), alone, report);
		beside(0, this.size.rest());
		relate("waiting rows", claims("waiting rows", report), alone, report);
		relate(BURST, afterIdling(report), alone, report);
		beside(0, 0);
		double held = underSnapshot(report);
		relate(SNAPSHOT, held, alone, report);
		report.ratio("claim-held-snapshot-" + this.database.name(), held / alone);
		this.probe.empty();
	}

	private void beside(int due, int waiting) {
		this.probe.empty();
		this.probe.addDue(due);
		this.probe.addWaiting(waiting);
		this.database.tidy();
	}

	/**
	 * A table that was empty when it was last analysed, as it nearly always is.
	 */
	private double afterIdling(Report report) {
		beside(0, 0);
		for (int i = 0; i < IDLE_CLAIMS; i++) {
			this.probe.claim(BATCH);
		}
		this.probe.addDue(this.size.rest());
		return claims(BURST, report);
	}

	private double claims(String rest, Report report) {
		List<Double> millis = new ArrayList<>();
		for (int claim = 0; claim < this.size.claims(); claim++) {
			millis.add(churn());
		}
		return keep(rest, millis, report);
	}

	private double underSnapshot(Report report) {
		List<Double> millis = new ArrayList<>();
		DataSource connections = Objects.requireNonNull(this.database.sql().getDataSource());
		try (Connection connection = connections.getConnection(); Statement statement = connection.createStatement()) {
			connection.setAutoCommit(false);
			connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
			statement.execute("select count(*) from pg_class");
			long begin = System.nanoTime();
			while (System.nanoTime() - begin < this.size.snapshot().toNanos()) {
				millis.add(churn());
			}
			connection.rollback();
		}
		catch (SQLException ex) {
			throw new IllegalStateException("The snapshot could not be held", ex);
		}
		return keep(SNAPSHOT, millis.subList(millis.size() * 9 / 10, millis.size()), report);
	}

	private double churn() {
		this.probe.addDue(BATCH);
		long begin = System.nanoTime();
		int claimed = this.probe.claim(BATCH);
		double millis = (System.nanoTime() - begin) / NANOS_PER_MILLI;
		Assert.state(claimed == BATCH, () -> "A claim took " + claimed + " rows instead of " + BATCH);
		this.probe.deleteClaimed();
		return millis;
	}

	private double keep(String rest, List<Double> millis, Report report) {
		Samples samples = Samples.of(millis.stream().mapToDouble(Double::doubleValue).toArray());
		report.add(name(), this.contender, "ms p50, " + rest, samples.median());
		report.add(name(), this.contender, "ms p99, " + rest, samples.percentile(0.99));
		return samples.median();
	}

	private void relate(String rest, double millis, double alone, Report report) {
		report.add(name(), this.contender, "  / alone, " + rest, millis / alone);
	}

	/**
	 * How much of it.
	 *
	 * @param claims how many claims each figure is taken of
	 * @param rest how many rows are there beside those that are claimed
	 * @param snapshot how long the snapshot is held
	 */
	record Size(int claims, int rest, Duration snapshot) {
	}

}
