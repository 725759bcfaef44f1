package dev.idempotent.saga.crash;

import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RestartedApplication;
import dev.idempotent.testing.Tally;

/**
 * The faults of instances, PostgreSQL and Redis, each in a thread of its own, so that
 * they coincide.
 */
final class SagaFaults {

	/**
	 * Each is before or after a write of the journal, or a call.
	 */
	private static final List<String> ORCHESTRATOR_HALTS = List.of("before-commit-start", "after-commit-start",
			"taken-over", "before-commit-order", "after-commit-order", "before-hold", "after-hold", "called-hold-DONE",
			"called-hold-REFUSED", "before-charge", "after-charge", "called-charge-DONE", "called-charge-REFUSED",
			"before-notify", "after-notify", "called-notify-DONE", "called-notify-REFUSED", "before-end",
			"after-COMPLETED", "before-refund", "after-refund", "called-charge-COMPENSATED", "before-release",
			"after-release", "called-hold-COMPENSATED", "before-commit-reject", "after-commit-reject",
			"after-COMPENSATED", "before-commit-signal", "after-commit-signal", "before-commit-cancel",
			"after-commit-cancel", "before-wait", "after-wait", "before-commit-received", "after-commit-received",
			"after-sleep", "before-commit-decided", "after-commit-decided");

	private static final List<String> PARTICIPANT_HALTS = List.of("before-commit-hold", "after-commit-hold",
			"before-commit-release", "after-commit-release", "before-commit-charge", "after-commit-charge",
			"before-commit-refund", "after-commit-refund", "before-commit-notify", "after-commit-notify");

	private final HttpClient client = HttpClient.newHttpClient();

	private final CountDownLatch over;

	private final SagaSite site;

	private final Tally tally;

	SagaFaults(CountDownLatch over, SagaSite site, Tally tally) {
		this.over = over;
		this.site = site;
		this.tally = tally;
	}

	/**
	 * The faults, each to be run by its own thread.
	 */
	List<Runnable> lanes(RealPostgres postgres, RealRedis redis) {
		return List.of(() -> strike(this.site.orchestrators(), ORCHESTRATOR_HALTS),
				() -> strike(this.site.participants(), PARTICIPANT_HALTS), () -> crash(postgres), () -> flush(redis));
	}

	private void strike(List<RestartedApplication> instances, List<String> halts) {
		List<String> points = new ArrayList<>(halts);
		Collections.shuffle(points);
		int halted = 0;
		while (lasts(200, 1_500)) {
			if (!instances.stream().allMatch(RestartedApplication::isReady)) {
				continue;
			}
			RestartedApplication victim = SagaSite.any(instances);
			int chance = ThreadLocalRandom.current().nextInt(100);
			if (chance < 40) {
				victim.kill();
			}
			else if (chance < 75) {
				// Each point in turn, because runs are short.
				halt(victim, points.get(halted++ % points.size()));
			}
			else {
				pause(victim);
			}
		}
	}

	private void halt(RestartedApplication victim, String point) {
		try {
			this.client.send(HttpRequest.newBuilder(victim.uri("/halt?point=" + point))
				.timeout(Duration.ofSeconds(2))
				.POST(BodyPublishers.noBody())
				.build(), BodyHandlers.discarding());
			for (int i = 0; i < 50 && victim.isReady() && lasts(99, 100); i++) {
				// Most points are passed soon.
			}
		}
		catch (IOException ex) {
			this.tally.count("fault halt not requested");
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private void pause(RestartedApplication victim) {
		this.tally.count("fault pause");
		victim.signal("STOP");
		try {
			lasts(500, 5_000);
		}
		finally {
			victim.signal("CONT");
		}
	}

	private void crash(RealPostgres postgres) {
		while (lasts(5_000, 15_000)) {
			this.tally.count("fault postgres crash");
			postgres.kill();
			lasts(1, 1_500);
			postgres.start();
		}
	}

	private void flush(RealRedis redis) {
		while (lasts(500, 3_000)) {
			this.tally.count("fault redis flush");
			redis.flush();
		}
	}

	/**
	 * Waits.
	 * @return whether the faults go on
	 */
	private boolean lasts(int minMillis, int maxMillis) {
		try {
			return !this.over.await(ThreadLocalRandom.current().nextInt(minMillis, maxMillis), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
	}

}
