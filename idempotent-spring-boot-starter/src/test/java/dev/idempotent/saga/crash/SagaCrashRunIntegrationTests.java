package dev.idempotent.saga.crash;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.Tally;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.Tag;
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
			storm(site);
			long start = System.nanoTime();
			awaitEnd(site, clients, database);
			report = SagaCrashReport.of(this.duration, Duration.ofNanos(System.nanoTime() - start), this.tally,
					client.placed(), database);
		}
		System.out.println(report);
		assertThat(report.violations()).as(report::toString).isEmpty();
		if (this.duration.compareTo(LONG) >= 0) {
			assertThat(this.tally.sum("saga COMPLETED")).as(report::toString).isPositive();
			assertThat(this.tally.sum("saga COMPENSATED")).as(report::toString).isPositive();
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

}
