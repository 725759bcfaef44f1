package dev.idempotent.sample.crash;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.sample.crash.site.CrashSite;
import dev.idempotent.sample.crash.site.Journal.Death;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Explained in {@code docs/crash-tests.md}.
 */
@Tag("long")
@TestInstance(Lifecycle.PER_CLASS)
@DisabledOnOs(value = OS.WINDOWS, disabledReason = "its processes know no signals")
class CrashIntegrationTests {

	/**
	 * The promise is the lease and one second, which the report of a run shows; a busy
	 * build machine is given more.
	 */
	private static final Duration LONGEST_HEAL = CrashSite.LEASE.multipliedBy(10);

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final int LEASE_RUNS = 10;

	private final CrashSettings transaction = CrashSettings.read("transaction", Duration.ofSeconds(15), Faults.NAMES);

	/**
	 * Those of which a lease knows nothing, so that a short run finds what it looks for.
	 */
	private static final List<String> TOO_MUCH_FOR_A_LEASE = List.of("flush", "redis-kill", "halt-after-commit");

	private final CrashSettings lease = CrashSettings.read("lease", Duration.ofSeconds(6), TOO_MUCH_FOR_A_LEASE);

	private final CrashSite site = this.transaction.openSite();

	@BeforeEach
	void awaitReady() {
		this.site.awaitReady();
	}

	@AfterAll
	void close() {
		this.site.close();
	}

	@ParameterizedTest
	@CsvSource({ "in-handler, 0", "before-commit, 0", "after-commit, 1", "before-complete, 1" })
	void runsOnceAtWhicheverMomentAnInstanceHalts(String instant, int committed) {
		assumeTrue(this.transaction.hasStoreInFront() || !instant.equals("before-complete"));
		Halted halted = halt("/api/orders", "transaction", instant);
		assertThat(orders(halted.key())).isEqualTo(committed);
		assertHeals("/api/orders", halted);
		assertThat(orders(halted.key())).isOne();
	}

	@ParameterizedTest
	@CsvSource({ "before-commit, 0, 1", "after-commit, 1, 2" })
	void runsAgainUnderALeaseAfterAHalt(String instant, int committed, int inTheEnd) {
		Halted halted = halt("/api/orders/lease", "lease", instant);
		assertThat(orders(halted.key())).isEqualTo(committed);
		assertHeals("/api/orders/lease", halted);
		assertThat(orders(halted.key())).isEqualTo(inTheEnd);
	}

	@Test
	void keepsOneOrderAndOneAnswerPerKeyAcrossCrashes() {
		assumeTrue(!this.transaction.isLease());
		Report report = new CrashRun(this.site, this.transaction).run();
		assertThat(report.isClean()).as(report::toString).isTrue();
	}

	@Test
	void findsTheWorkThatALeaseRepeats() {
		assumeTrue(this.lease.isLease());
		CrashSettings settings = this.lease;
		Report report = new CrashRun(this.site, settings).run();
		// Few requests meet a fault in so short a run on a busy machine.
		for (int i = 1; i < LEASE_RUNS && report.violations().of("several orders") == 0; i++) {
			settings = settings.again();
			report = new CrashRun(this.site, settings).run();
		}
		assertThat(report.violations().of("several orders")).as(report::toString).isPositive();
		assertThat(report.events().isClean()).as(report::toString).isTrue();
	}

	/**
	 * Places orders until the instance halts within one. Where the claim in front takes
	 * longer than its time-out, the database alone decides or the request is refused:
	 * such an order never comes to where the instance is to halt.
	 */
	private Halted halt(String path, String guarantee, String instant) {
		OrderSender sender = new OrderSender(path, PATIENCE);
		AtomicInteger number = new AtomicInteger();
		Halted halted = Awaitility.await().atMost(PATIENCE).until(() -> {
			String key = guarantee + "-" + instant + "-" + number.incrementAndGet();
			Attempt attempt = sender.send(this.site.instances().get(0), key, false, "halt=" + instant).join();
			return (attempt.answer() == null) ? new Halted(key, deathIn(attempt)) : null;
		}, Objects::nonNull);
		assertThat(halted.death().cause()).isEqualTo("halt-" + instant);
		return halted;
	}

	private Death deathIn(Attempt attempt) {
		return Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> this.site.journal().deathOf(attempt.life()), Objects::nonNull);
	}

	private void assertHeals(String path, Halted halted) {
		OrderSender sender = new OrderSender(path);
		Attempt answered = Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> sender.send(this.site.instances().get(1), halted.key(), false, "").join(),
					(attempt) -> attempt.finalAnswer() != null);
		assertThat(answered.ended() - halted.death().at()).isLessThanOrEqualTo(LONGEST_HEAL.toMillis());
	}

	private long orders(String key) {
		return this.site.postgres()
			.jdbc()
			.sql("select count(*) from orders where user_id = :key")
			.param("key", key)
			.query(Long.class)
			.single();
	}

	/**
	 * The order within which an instance has halted.
	 */
	private record Halted(String key, Death death) {

	}

}
