package dev.idempotent.sample.crash;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.Stream;

import dev.idempotent.sample.crash.site.CrashSite;
import dev.idempotent.sample.crash.site.CrashableRedis;
import dev.idempotent.sample.crash.site.KillablePostgres;
import dev.idempotent.sample.crash.site.ShopInstance;

/**
 * The faults of instances, Redis and PostgreSQL, each in its own lane, so that they
 * coincide.
 */
final class Faults {

	private static final List<String> HALTS = List.of("halt-in-handler", "halt-before-commit", "halt-after-commit",
			"halt-before-complete");

	static final List<String> NAMES = Stream.of(List.of("kill", "pause"), HALTS,
			List.of("fail-before-commit", "fail-after-commit", "flush", "redis-stop", "redis-kill", "redis-stall",
					"redis-cut", "redis-lost-reply", "failover", "postgres-crash", "postgres-stall", "postgres-cut",
					"postgres-lost-commit"))
		.flatMap(List::stream)
		.toList();

	private static final Duration MOMENT = Duration.ofMillis(10);

	private final CrashSite site;

	private final CrashSettings settings;

	private final Tally tally;

	Faults(CrashSite site, CrashSettings settings, Tally tally) {
		this.site = site;
		this.settings = settings;
		this.tally = tally;
	}

	/**
	 * The lanes, each to be run by its own thread until the storm is over.
	 */
	List<Runnable> lanes(Storm storm, long seed) {
		List<Runnable> lanes = new ArrayList<>();
		add(lanes, instances(storm), storm, new Random(seed), 400);
		add(lanes, redis(storm), storm, new Random(seed + 1), 3_000);
		add(lanes, postgres(storm), storm, new Random(seed + 2), 6_000);
		return lanes;
	}

	private void add(List<Runnable> lanes, List<Fault> faults, Storm storm, Random random, int rest) {
		List<Fault> chosen = faults.stream().filter((fault) -> this.settings.hasFault(fault.name)).toList();
		if (!chosen.isEmpty()) {
			lanes.add(() -> {
				while (storm.lasts(random, rest / 4, rest)) {
					Fault fault = chosen.get(random.nextInt(chosen.size()));
					this.tally.count(fault.name);
					fault.action.accept(random);
				}
			});
		}
	}

	private List<Fault> instances(Storm storm) {
		List<Fault> faults = new ArrayList<>();
		HALTS.forEach((halt) -> faults.add(new Fault(halt, (random) -> halt(storm, halt.replaceFirst("-", "=")))));
		// As often as all others together.
		faults.addAll(Collections.nCopies(faults.size() + 1, new Fault("kill", (random) -> {
			if (awaitSpare(storm)) {
				any(random).kill();
			}
		})));
		faults.add(new Fault("pause", (random) -> {
			ShopInstance victim = any(random);
			this.site.journal().during("pause of " + victim.life(), () -> {
				victim.pause();
				storm.lasts(random, 100, 3_000);
				victim.resume();
			});
		}));
		return faults;
	}

	private void halt(Storm storm, String wish) {
		if (awaitSpare(storm)) {
			int deaths = this.site.journal().deaths().size();
			storm.wish(wish);
			for (int i = 0; i < 100 && this.site.journal().deaths().size() == deaths; i++) {
				storm.lasts(MOMENT);
			}
			storm.takeWish();
		}
	}

	private ShopInstance any(Random random) {
		List<ShopInstance> ready = ready();
		List<ShopInstance> choice = ready.isEmpty() ? this.site.instances() : ready;
		return choice.get(random.nextInt(choice.size()));
	}

	private List<ShopInstance> ready() {
		return this.site.instances().stream().filter(ShopInstance::isReady).toList();
	}

	/**
	 * Waits until there is an instance to take over from another.
	 * @return whether there is one, and the storm goes on
	 */
	private boolean awaitSpare(Storm storm) {
		while (ready().size() < 2) {
			if (!storm.lasts(MOMENT)) {
				return false;
			}
		}
		return !storm.isOver();
	}

	private List<Fault> redis(Storm storm) {
		CrashableRedis redis = this.site.redis();
		List<Fault> faults = new ArrayList<>(List.of(noted("flush", (random) -> redis.flush()),
				noted("redis-stop", (random) -> restart(redis, true, storm, random, 100, 2_000)),
				noted("redis-kill", (random) -> restart(redis, false, storm, random, 1, 50)),
				noted("redis-cut", (random) -> redis.cut()), noted("redis-lost-reply", (random) -> redis.loseReply()),
				noted("redis-stall", (random) -> {
					redis.hold();
					storm.lasts(random, 1_000, 3_000);
					redis.resume();
				})));
		if (redis.failsOver()) {
			faults.add(noted("failover", (random) -> {
				restart(redis, false, storm, random, 3_000, 5_000);
				redis.awaitReady();
			}));
		}
		return faults;
	}

	private static void restart(CrashableRedis redis, boolean graceful, Storm storm, Random random, int minMillis,
			int maxMillis) {
		redis.stop(graceful);
		storm.lasts(random, minMillis, maxMillis);
		redis.start();
	}

	private List<Fault> postgres(Storm storm) {
		KillablePostgres postgres = this.site.postgres();
		return List.of(noted("postgres-crash", (random) -> {
			postgres.crash();
			storm.lasts(random, 1, 1_500);
			postgres.start();
		}), noted("postgres-cut", (random) -> postgres.wire().cut()),
				noted("postgres-lost-commit", (random) -> postgres.loseConfirmation()),
				noted("postgres-stall", (random) -> {
					postgres.wire().hold();
					storm.lasts(random, 1_000, 3_000);
					postgres.wire().resume();
				}));
	}

	private Fault noted(String name, Consumer<Random> action) {
		return new Fault(name, (random) -> this.site.journal().during(name, () -> action.accept(random)));
	}

	private record Fault(String name, Consumer<Random> action) {

	}

}
