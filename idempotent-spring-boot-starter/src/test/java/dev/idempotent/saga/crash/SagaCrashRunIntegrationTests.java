package dev.idempotent.saga.crash;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.StepState;
import dev.idempotent.saga.crash.OrchestratorApplication.Checkout;
import dev.idempotent.saga.crash.SagaAudit.Effect;
import dev.idempotent.saga.crash.SagaClient.PlacedSaga;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.Tally;
import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.io.ClassPathResource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Explained in {@code docs/crash-tests.md}.
 */
@Tag("long")
@DisabledOnOs(value = OS.WINDOWS, disabledReason = "its processes know no signals")
class SagaCrashRunIntegrationTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.dedicated();

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	private static final int CLIENTS = 6;

	/**
	 * A shorter run has too few sagas for both ends.
	 */
	private static final Duration LONG = Duration.ofMinutes(5);

	/**
	 * More than the longest back-offs of a saga.
	 */
	private static final Duration PATIENCE = Duration.ofMinutes(5);

	/**
	 * Sagas that wait although their signal was committed, or they were cancelled: for
	 * longer than an owner that has lost a reply lets its saga rest.
	 */
	private static final String IN_VAIN = "select count(*) from saga_instance s where s.status = 'EXECUTING' and "
			+ "s.owner is null and s.waits_for is not null and s.due_at > clock_timestamp() + interval '500 ms' and "
			+ "(s.deadline = s.created_at or exists (select 1 from saga_signal t where t.saga_id = s.id and "
			+ "t.name = s.waits_for and t.state = 'RECEIVED'))";

	private final Duration duration = DurationStyle.detectAndParse(System.getProperty("saga.crash.duration", "15s"));

	private final Tally tally = new Tally();

	private final CountDownLatch over = new CountDownLatch(1);

	private final CountDownLatch givenUp = new CountDownLatch(1);

	@Test
	void finishesOrUndoesEverySaga() throws InterruptedException {
		JdbcClient database = createTables();
		SagaCrashReport report;
		try (SagaSite site = new SagaSite(postgres, redis, this.tally)) {
			site.awaitReady();
			SagaClient client = new SagaClient(this.over, this.givenUp, site, this.tally);
			List<Thread> clients = start(IntStream.range(0, CLIENTS)
				.<Runnable>mapToObj((number) -> () -> client.place("saga-" + number))
				.toList());
			List<Thread> watch = start(List.of(() -> watchWaits(database)));
			storm(site);
			long start = System.nanoTime();
			awaitEnd(site, clients, database);
			watch.get(0).join();
			report = SagaCrashReport.of(this.duration, Duration.ofNanos(System.nanoTime() - start), this.tally,
					client.placed(), database);
		}
		System.out.println(report);
		assertThat(report.violations()).as(report::toString).isEmpty();
		assertThat(this.tally.sum("waits in vain")).as(report::toString).isZero();
		if (this.duration.compareTo(LONG) >= 0) {
			assertThat(this.tally.sum("saga COMPLETED")).as(report::toString).isPositive();
			assertThat(this.tally.sum("saga COMPENSATED")).as(report::toString).isPositive();
			assertThat(this.tally.sum("effect paid ACCEPTED")).as(report::toString).isPositive();
			assertThat(this.tally.sum("effect received")).as(report::toString).isPositive();
			assertThat(this.tally.sum("effect told COMPENSATING")).as(report::toString).isPositive();
		}
	}

	/**
	 * Looks at all waits until everything has ended, because each of them ends by its
	 * time in the end.
	 */
	private void watchWaits(JdbcClient database) {
		try {
			while (!this.givenUp.await(50, TimeUnit.MILLISECONDS)) {
				try {
					if (database.sql(IN_VAIN).query(Long.class).single() > 0) {
						this.tally.count("waits in vain");
					}
					this.tally.count("looks at waits");
				}
				catch (DataAccessException ex) {
					this.tally.count("fault no look at waits");
				}
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private static JdbcClient createTables() {
		new ResourceDatabasePopulator(new ClassPathResource("dev/idempotent/schema/postgresql/saga.sql"),
				new ClassPathResource("dev/idempotent/schema/postgresql/idempotency.sql"))
			.execute(postgres.connect());
		JdbcClient database = JdbcClient.create(postgres.connect());
		database.sql(ChildApplication.Effects.TABLE).update();
		return database;
	}

	private void storm(SagaSite site) throws InterruptedException {
		site.proxy().setLossy(true);
		List<Thread> faults = start(new SagaFaults(this.over, site, this.tally).lanes(postgres, redis));
		boolean unused = this.over.await(this.duration.toMillis(), TimeUnit.MILLISECONDS);
		this.over.countDown();
		site.proxy().setLossy(false);
		for (Thread fault : faults) {
			fault.join();
		}
		site.awaitReady();
	}

	private static List<Thread> start(List<Runnable> tasks) {
		return tasks.stream().map((task) -> {
			Thread thread = new Thread(task, "crash-run");
			thread.setDaemon(true);
			thread.start();
			return thread;
		}).toList();
	}

	/**
	 * Waits for the final answers, the late requests and the sagas. The audit finds those
	 * that have not ended.
	 */
	private void awaitEnd(SagaSite site, List<Thread> clients, JdbcClient database) {
		try {
			await().atMost(PATIENCE)
				.until(() -> clients.stream().noneMatch(Thread::isAlive) && site.proxy().isEmpty()
						&& SagaCrashReport.open(database) == 0);
		}
		catch (ConditionTimeoutException ex) {
			this.tally.count("fault not over");
		}
		finally {
			this.givenUp.countDown();
		}
	}

	/**
	 * What was done and found in a run.
	 *
	 * @param duration how long there were faults
	 * @param quiet how long it took afterwards until everything had ended
	 * @param tally all counts
	 * @param violations what is wrong, by saga
	 */
	private record SagaCrashReport(Duration duration, Duration quiet, Tally tally,
			Map<String, List<String>> violations) {

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
			Map<String, Map<String, StepState>> waits = database
				.sql("select saga_id, name, state from saga_step where kind in ('SIGNAL', 'SLEEP')")
				.query((row, number) -> new Effect(row.getString(1), row.getString(2), row.getString(3)))
				.stream()
				.collect(Collectors.groupingBy(Effect::saga,
						Collectors.toMap(Effect::kind, (wait) -> StepState.valueOf(wait.ref()))));
			Map<String, List<String>> violations = new TreeMap<>();
			for (PlacedSaga saga : placed) {
				SagaStatus status = statuses.get(digestOf(saga));
				List<Effect> own = effects.getOrDefault(saga.id(), List.of());
				tally.count("saga " + ((status != null) ? status : "not stored"));
				own.forEach((effect) -> tally.count("effect " + effect.kind()));
				List<String> found = SagaAudit.violations(saga, status, own,
						waits.getOrDefault(digestOf(saga), Map.of()));
				waits.getOrDefault(digestOf(saga), Map.of())
					.forEach((name, state) -> tally.count("wait " + name + " " + state));
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
			return IdempotencyKey
				.of(IdempotencyKey.Kind.SAGA, SagaSite.NAMESPACE, "", Checkout.NAME, '"' + saga.id() + '"')
				.digest();
		}

		@Override
		public String toString() {
			return """
					Crash run of sagas, %s
					  sagas       %s
					  effects     %s
					  waits       %s
					  told        %s
					  answers     %s
					  deaths      %d: kill %d · %s
					  faults      %s
					  network     %s
					  looks       %d at all waits, %d of them found one in vain
					  quiet       everything had ended %d ms after everything was up
					  violations  %s""".formatted(this.duration, this.tally.list("saga "), this.tally.list("effect "),
					this.tally.list("wait "), this.tally.list("message "), this.tally.list("answer "),
					this.tally.sum("kill") + this.tally.sum("halt at "), this.tally.sum("kill"),
					this.tally.list("halt at "), this.tally.list("fault "), this.tally.list("network "),
					this.tally.sum("looks at waits"), this.tally.sum("waits in vain"), this.quiet.toMillis(),
					this.violations.isEmpty() ? "none" : this.violations);
		}

	}

}
