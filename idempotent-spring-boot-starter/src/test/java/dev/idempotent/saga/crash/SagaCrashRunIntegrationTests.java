package dev.idempotent.saga.crash;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.crash.SagaAudit.Effect;
import dev.idempotent.saga.crash.SagaClient.PlacedSaga;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Explained in {@code docs/crash-tests.md}.
 */
@DisabledOnOs(value = OS.WINDOWS, disabledReason = "its processes know no signals")
class SagaCrashRunIntegrationTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.dedicated();

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	private static final int CLIENTS = 6;

	/**
	 * More than the longest back-off.
	 */
	private static final Duration PATIENCE = Duration.ofMinutes(4);

	private final Duration duration = DurationStyle.detectAndParse(System.getProperty("saga.crash.duration", "25s"));

	private final Tally tally = new Tally();

	private final CountDownLatch over = new CountDownLatch(1);

	private final CountDownLatch givenUp = new CountDownLatch(1);

	@Test
	void finishesOrUndoesEverySaga() throws InterruptedException {
		JdbcClient database = createTables();
		try (SagaSite site = new SagaSite(postgres, redis, this.tally)) {
			site.awaitReady();
			SagaClient client = new SagaClient(this.over, this.givenUp, site, this.tally);
			List<Thread> clients = start("client",
					IntStream.range(0, CLIENTS)
						.<Runnable>mapToObj((number) -> () -> client.place("saga-" + number))
						.toList());
			site.proxy().setLossy(true);
			List<Thread> faults = start("fault", new SagaFaults(this.over, site, this.tally).lanes(postgres, redis));
			TimeUnit.MILLISECONDS.sleep(this.duration.toMillis());
			this.over.countDown();
			site.proxy().setLossy(false);
			for (Thread fault : faults) {
				fault.join();
			}
			site.awaitReady();
			awaitQuiet(site, clients, database);
			report(client, database);
		}
	}

	private static JdbcClient createTables() {
		new ResourceDatabasePopulator(new ClassPathResource("dev/idempotent/saga/jdbc/schema-postgresql.sql"),
				new ClassPathResource("dev/idempotent/idempotency/jdbc/schema-postgresql.sql"))
			.execute(postgres.connect());
		JdbcClient database = JdbcClient.create(postgres.connect());
		database.sql(ChildApplication.Effects.TABLE).update();
		return database;
	}

	private static List<Thread> start(String name, List<Runnable> tasks) {
		return tasks.stream().map((task) -> {
			Thread thread = new Thread(task, name);
			thread.setDaemon(true);
			thread.start();
			return thread;
		}).toList();
	}

	/**
	 * Nothing is promised about when a saga ends that was disturbed, but once all faults
	 * are over, it ends.
	 */
	private void awaitQuiet(SagaSite site, List<Thread> clients, JdbcClient database) {
		long start = System.nanoTime();
		try {
			await("answers, late requests and sagas").atMost(PATIENCE)
				.until(() -> clients.stream().noneMatch(Thread::isAlive) && site.proxy().isEmpty()
						&& open(database) == 0);
		}
		finally {
			this.givenUp.countDown();
			System.out.println("Quiet after " + Duration.ofNanos(System.nanoTime() - start).toMillis() + " ms");
		}
	}

	private static long open(JdbcClient database) {
		return database
			.sql("select count(*) from saga_instance where status not in ('COMPLETED', 'COMPENSATED', " + "'HALTED')")
			.query(Long.class)
			.single();
	}

	private void report(SagaClient client, JdbcClient database) {
		Map<String, SagaStatus> statuses = database.sql("select id, status from saga_instance")
			.query((row, number) -> Map.entry(row.getString(1), SagaStatus.valueOf(row.getString(2))))
			.stream()
			.collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
		Map<String, List<Effect>> effects = database.sql("select saga, kind, ref from effect order by id")
			.query((row, number) -> new Effect(row.getString(1), row.getString(2), row.getString(3)))
			.stream()
			.collect(Collectors.groupingBy(Effect::saga));
		Map<String, List<String>> violations = new TreeMap<>();
		for (PlacedSaga saga : client.placed()) {
			SagaStatus status = statuses.get(digest(saga.id()));
			this.tally.count("saga " + ((status != null) ? status : "not stored"));
			List<Effect> own = effects.getOrDefault(saga.id(), List.of());
			List<String> found = new ArrayList<>(SagaAudit.violations(saga, status, own));
			if (!found.isEmpty()) {
				violations.put(saga + " " + status + " " + own + " " + journal(database, digest(saga.id())), found);
			}
		}
		System.out.println("Crash run of sagas, " + this.duration + ": " + client.placed().size() + " sagas, "
				+ violations.size() + " with violations\n" + this.tally);
		assertThat(violations).as(this.tally::toString).isEmpty();
	}

	/**
	 * What there is to explain a violation.
	 */
	private static String journal(JdbcClient database, String id) {
		return database
			.sql("select epoch, steps, attempts, reason, halt_reason, created_at, deadline, due_at from "
					+ "saga_instance where id = ?")
			.param(id)
			.query()
			.listOfRows()
				+ " "
				+ database
					.sql("select name, seq, kind, state, reason, begun_at, compensating_at, ended_at from "
							+ "saga_step where saga_id = ? order by seq")
					.param(id)
					.query()
					.listOfRows();
	}

	private static String digest(String id) {
		return IdempotencyKey.of(IdempotencyKey.Kind.SAGA, "test", "", Checkout.NAME, '"' + id + '"').digest();
	}

}
