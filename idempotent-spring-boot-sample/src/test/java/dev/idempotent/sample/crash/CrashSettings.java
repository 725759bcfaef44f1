package dev.idempotent.sample.crash;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;

import dev.idempotent.sample.crash.site.CrashSite;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.util.Assert;
import org.springframework.util.StringUtils;

/**
 * The settings of a run, from the system properties {@code crash.*}.
 *
 * @param guarantee {@code transaction} or {@code lease}
 * @param duration how long faults happen
 * @param keys how many keys are used at most
 * @param clients how many customers order concurrently
 * @param instances how many instances of the shop there are
 * @param seed the seed of all random choices
 * @param faults the names of the faults that may happen
 * @param topology {@code single}, {@code sentinel} or {@code jdbc}
 */
record CrashSettings(String guarantee, Duration duration, int keys, int clients, int instances, long seed,
		Set<String> faults, String topology) {

	CrashSettings {
		Assert.isTrue(List.of("transaction", "lease").contains(guarantee),
				"crash.guarantee is either transaction or lease");
		Assert.isTrue(List.of("single", "sentinel", "jdbc").contains(topology),
				"crash.topology is single, sentinel or jdbc");
		Assert.isTrue(Faults.NAMES.containsAll(faults), () -> "crash.faults are some of " + Faults.NAMES);
		Assert.isTrue(instances > 1, "crash.instances is at least 2: one takes over from another");
	}

	/**
	 * Reads the properties.
	 * @param guarantee the default guarantee
	 * @param duration the default duration
	 * @param faults the default faults
	 */
	static CrashSettings read(String guarantee, Duration duration, Collection<String> faults) {
		return new CrashSettings(read("guarantee", guarantee),
				DurationStyle.detectAndParse(read("duration", duration.toSeconds() + "s")), read("keys", 1_000_000),
				read("clients", 8), read("instances", 3), Long.getLong("crash.seed", System.nanoTime() & 0xffff),
				StringUtils.commaDelimitedListToSet(read("faults", String.join(",", faults))),
				read("topology", "single"));
	}

	private static String read(String name, String byDefault) {
		return System.getProperty("crash." + name, byDefault);
	}

	private static int read(String name, int byDefault) {
		return Integer.getInteger("crash." + name, byDefault);
	}

	/**
	 * The same for a further run, with other keys.
	 */
	CrashSettings again() {
		return new CrashSettings(this.guarantee, this.duration, this.keys, this.clients, this.instances, this.seed + 1,
				this.faults, this.topology);
	}

	boolean isLease() {
		return this.guarantee.equals("lease");
	}

	/**
	 * The path of orders under the guarantee that is checked.
	 */
	String path() {
		return isLease() ? "/api/orders/lease" : "/api/orders";
	}

	/**
	 * Starts the servers and instances.
	 */
	CrashSite openSite() {
		return CrashSite.open(Path.of("target", "crash"), jar(), this.topology.equals("sentinel"), this.instances,
				hasStoreInFront() ? List.of() : List.of("--idempotent.store=jdbc"));
	}

	boolean hasStoreInFront() {
		return !this.topology.equals("jdbc");
	}

	boolean hasFault(String name) {
		return this.faults.contains(name);
	}

	private static Path jar() {
		String jar = System.getProperty("crash.jar");
		Assert.state(jar != null, "crash.jar names the packaged shop: run this test with ./mvnw verify");
		return Path.of(jar);
	}

	/**
	 * The arguments that let a run be repeated.
	 */
	@Override
	public String toString() {
		return "-Dcrash.guarantee=" + this.guarantee + " -Dcrash.duration=" + this.duration.toSeconds()
				+ "s -Dcrash.keys=" + this.keys + " -Dcrash.clients=" + this.clients + " -Dcrash.instances="
				+ this.instances + " -Dcrash.seed=" + this.seed + " -Dcrash.topology=" + this.topology
				+ " -Dcrash.faults=" + String.join(",", this.faults);
	}

}
