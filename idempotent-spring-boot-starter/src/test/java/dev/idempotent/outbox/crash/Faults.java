package dev.idempotent.outbox.crash;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import dev.idempotent.testing.RestartedApplication;
import dev.idempotent.testing.StallingProxy;
import dev.idempotent.testing.Tally;

/**
 * A series of faults, one after the other until the end of the run.
 */
final class Faults {

	private final Random random;

	private final CountDownLatch over;

	private final Tally tally;

	Faults(long seed, CountDownLatch over, Tally tally) {
		this.random = new Random(seed);
		this.over = over;
		this.tally = tally;
	}

	/**
	 * The faults of a network, by name.
	 */
	static Map<String, Runnable> of(StallingProxy network) {
		Map<String, Runnable> faults = new LinkedHashMap<>();
		faults.put("cut", network::reset);
		faults.put("lost-reply", network::dropNextReply);
		faults.put("stall", network::hold);
		return faults;
	}

	/**
	 * Kills instances, or pauses them for longer than a lease. Begins with a kill,
	 * because runs can be short.
	 */
	void strike(List<RestartedApplication> instances, Duration lease) {
		boolean killed = false;
		while (lasts(500, 3_000)) {
			RestartedApplication victim = instances.get(this.random.nextInt(instances.size()));
			if (!instances.stream().allMatch(RestartedApplication::isReady)) {
				continue;
			}
			if (!killed || this.random.nextInt(100) < 55) {
				victim.kill();
				killed = true;
			}
			else {
				this.tally.count("fault pause");
				victim.signal("STOP");
				lasts(500, 2 * (int) lease.toMillis());
				victim.signal("CONT");
			}
		}
	}

	/**
	 * Crashes a server, and disturbs the network to it. Begins with a crash.
	 * @param name of the server
	 * @param resume ends what a fault of the network has begun
	 */
	void strike(String name, Runnable kill, Runnable start, Map<String, Runnable> network, Runnable resume) {
		List<String> names = List.copyOf(network.keySet());
		boolean crashed = false;
		while (lasts(1_500, 9_000)) {
			if (!crashed || this.random.nextInt(100) < 30) {
				crashed = true;
				this.tally.count("fault " + name + " crash");
				kill.run();
				lasts(1, 1_500);
				start.run();
			}
			else {
				String fault = names.get(this.random.nextInt(names.size()));
				this.tally.count("fault " + name + " " + fault);
				network.getOrDefault(fault, resume).run();
				lasts(200, 3_000);
				resume.run();
			}
		}
	}

	/**
	 * Waits.
	 * @return whether the faults go on
	 */
	private boolean lasts(int minMillis, int maxMillis) {
		try {
			return !this.over.await(minMillis + this.random.nextInt(maxMillis - minMillis), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
	}

}
