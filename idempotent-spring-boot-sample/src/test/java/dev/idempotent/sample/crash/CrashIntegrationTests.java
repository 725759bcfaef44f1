package dev.idempotent.sample.crash;

import java.time.Duration;
import java.util.List;
import java.util.Objects;

import dev.idempotent.sample.crash.site.CrashSite;
import dev.idempotent.sample.crash.site.Journal.Death;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
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
@TestInstance(Lifecycle.PER_CLASS)
@DisabledOnOs(value = OS.WINDOWS, disabledReason = "its processes know no signals")
class CrashIntegrationTests {

	/**
	 * The promise is the lease and one second, which the report of a run shows; a busy
	 * build machine is given more.
	 */
	private static final Duration LONGEST_HEAL = CrashSite.LEASE.plusSeconds(5);

	private final CrashSettings transaction = CrashSettings.read("transaction", Duration.ofSeconds(25), Faults.NAMES);

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
	void worksOnceWhereverAnInstanceHalts(String instant, int committed) {
		String key = "transaction-" + instant;
		Death death = halt("/api/orders", key, instant);
		assertThat(orders(key)).isEqualTo(committed);
		assertHeals("/api/orders", key, death);
		assertThat(orders(key)).isOne();
	}

	@ParameterizedTest
	@CsvSource({ "before-commit, 0, 1", "after-commit, 1, 2" })
	void repeatsUnderALeaseWhatWasCommittedBeforeAHalt(String instant, int committed, int inTheEnd) {
		String key = "lease-" + instant;
		Death death = halt("/api/orders/lease", key, instant);
		assertThat(orders(key)).isEqualTo(committed);
		assertHeals("/api/orders/lease", key, death);
		assertThat(orders(key)).isEqualTo(inTheEnd);
	}

	@Test
	void keepsOneOrderAndOneAnswerPerKeyWhateverCrashes() {
		assumeTrue(!this.transaction.isLease());
		Report report = new CrashRun(this.site, this.transaction).run();
		assertThat(report.isClean()).as(report::toString).isTrue();
	}

	@Test
	void findsTheWorkThatALeaseRepeats() {
		assumeTrue(this.lease.isLease());
		Report report = new CrashRun(this.site, this.lease).run();
		assertThat(report.violations().of("several orders")).as(report::toString).isPositive();
		assertThat(report.events().isClean()).as(report::toString).isTrue();
	}

	private Death halt(String path, String key, String instant) {
		assumeTrue(this.transaction.hasStoreInFront() || !instant.equals("before-complete"));
		Attempt attempt = new OrderSender(path).send(this.site.instances().get(0), key, false, "halt=" + instant)
			.join();
		assertThat(attempt.answer()).isNull();
		Death death = Awaitility.await().until(() -> this.site.journal().deathOf(attempt.life()), Objects::nonNull);
		assertThat(death.cause()).isEqualTo("halt-" + instant);
		return death;
	}

	private void assertHeals(String path, String key, Death death) {
		OrderSender sender = new OrderSender(path);
		Attempt answered = Awaitility.await()
			.until(() -> sender.send(this.site.instances().get(1), key, false, "").join(),
					(attempt) -> attempt.finalAnswer() != null);
		assertThat(answered.ended() - death.at()).isLessThanOrEqualTo(LONGEST_HEAL.toMillis());
	}

	private long orders(String key) {
		return this.site.postgres()
			.jdbc()
			.sql("select count(*) from orders where user_id = :key")
			.param("key", key)
			.query(Long.class)
			.single();
	}

}
