package dev.idempotent.sample.crash;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.LongStream;

import dev.idempotent.sample.crash.Audit.Violation;
import dev.idempotent.sample.crash.KeyHistory.Heal;
import dev.idempotent.sample.crash.site.CrashSite;

/**
 * Lets customers order during faults, in rounds of a storm, a calm and an audit.
 */
final class CrashRun {

	private static final Duration ROUND = Duration.ofMinutes(1);

	private final CrashSite site;

	private final CrashSettings settings;

	private final Audit audit;

	private final EventAudit events;

	private final KeyRing keys;

	private final Report report;

	CrashRun(CrashSite site, CrashSettings settings) {
		this.site = site;
		this.settings = settings;
		this.audit = new Audit(site.postgres().jdbc());
		this.events = new EventAudit(site);
		this.keys = new KeyRing(settings.guarantee().charAt(0) + "" + settings.seed() + "-", settings.keys());
		this.report = new Report(settings, site.journal());
	}

	/**
	 * Runs to the end and prints the report.
	 */
	Report run() {
		System.out.println("Crash run " + this.settings);
		this.site.journal().clear();
		long left = this.settings.duration().toMillis();
		for (int round = 0; left > 0 && this.keys.issued() < this.settings.keys(); round++) {
			long start = System.nanoTime();
			round(round, Duration.ofMillis(Math.min(left, ROUND.toMillis())));
			left -= Duration.ofNanos(System.nanoTime() - start).toMillis();
			System.out.println("Round " + (round + 1) + ": " + this.report.progress());
		}
		this.report.counted(this.audit.count(this.keys), this.events.check());
		System.out.println(this.report);
		return this.report;
	}

	private void round(int round, Duration duration) {
		Storm storm = new Storm();
		long seed = this.settings.seed() * 1_000 + round;
		ExecutorService threads = Executors.newCachedThreadPool();
		try {
			CompletableFuture<Void> faults = start(threads, storm,
					new Faults(this.site, this.settings, this.report.faults()).lanes(storm, seed));
			CompletableFuture<Void> customers = start(threads, storm, customers(storm, seed)).thenRun(storm::end);
			storm.lasts(duration);
			storm.end();
			faults.join();
			this.site.awaitReady();
			storm.calm();
			customers.join();
			this.events.settle(storm.calmSince());
			audit(storm);
		}
		finally {
			threads.shutdownNow();
		}
	}

	private List<Runnable> customers(Storm storm, long seed) {
		return LongStream.range(0, this.settings.clients())
			.<Runnable>mapToObj((number) -> new Customer(this.site.instances(), this.settings, this.keys, storm,
					this.report.outcomes(), seed * 1_000 + number))
			.toList();
	}

	/**
	 * Runs tasks, the first of which to fail ends the storm.
	 */
	private static CompletableFuture<Void> start(ExecutorService threads, Storm storm, List<Runnable> tasks) {
		return CompletableFuture.allOf(tasks.stream().map((task) -> CompletableFuture.runAsync(() -> {
			try {
				task.run();
			}
			catch (RuntimeException | Error ex) {
				storm.end();
				throw ex;
			}
		}, threads)).toArray(CompletableFuture[]::new));
	}

	private void audit(Storm storm) {
		List<KeyHistory> retired = this.keys.retire();
		List<Violation> violations = this.audit.check(retired);
		violations.forEach((violation) -> this.keys.forget(violation.key()));
		List<Heal> heals = new ArrayList<>(
				retired.stream().map((key) -> key.heal(this.site.journal())).filter(Objects::nonNull).toList());
		this.report.add(violations, heals);
		retired.forEach((key) -> this.report.settled(key.answeredAt() - storm.calmSince()));
		this.site.journal().clear();
	}

}
