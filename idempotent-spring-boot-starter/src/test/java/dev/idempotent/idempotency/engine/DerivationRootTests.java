package dev.idempotent.idempotency.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.ManualClock;
import dev.idempotent.idempotency.OnStoreFailure;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.engine.FaultyStore.Call;
import dev.idempotent.idempotency.engine.FaultyStore.Fault;
import dev.idempotent.idempotency.engine.FaultyStore.Verb;
import dev.idempotent.test.InMemoryIdempotencyStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

/**
 * The keys that are derived in runs whose key is a fingerprint.
 */
class DerivationRootTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final Duration WINDOW = Duration.ofMinutes(15);

	private final ManualClock clock = new ManualClock();

	private final FaultyStore store = new FaultyStore(new InMemoryIdempotencyStore(this.clock));

	private final IdempotencyEngine engine = new IdempotencyEngine(this.store, OnStoreFailure.REJECT,
			Duration.ofHours(1));

	private final List<IdempotencyEngine> others = new ArrayList<>();

	private final PresetTransactions database = new PresetTransactions();

	private final Fingerprint request = Samples.fingerprint("request");

	private final RunIdentity identity = new RunIdentity(Samples.key(), this.request, WINDOW, true);

	@AfterEach
	void close() {
		this.others.forEach(IdempotencyEngine::close);
		this.engine.close();
	}

	@Test
	void areTheSameInARetryOfARunThatHasFailed() {
		Claimant failed = run(this.identity);
		String sent = derive(failed);
		failed.release();
		assertThat(derive(run(this.identity))).isEqualTo(sent);
	}

	@Test
	void areTheSameInARetryOfARunThatHasDied() {
		String sent = derive(run(this.identity));
		this.clock.advance(LEASE);
		assertThat(derive(run(this.identity))).isEqualTo(sent);
	}

	/**
	 * The window of a request that has failed begins again.
	 */
	@Test
	void areTheSameInRetriesOfRunsThatHaveLastedLong() {
		Claimant first = run(this.identity);
		String sent = derive(first);
		this.clock.advance(WINDOW.plus(LEASE));
		first.release();
		for (int i = 0; i < 3; i++) {
			this.clock.advance(WINDOW.minusMillis(1));
			Claimant retry = run(this.identity);
			assertThat(derive(retry)).isEqualTo(sent);
			retry.release();
		}
		this.clock.advance(WINDOW);
		assertThat(derive(run(this.identity))).isNotEqualTo(sent);
	}

	@Test
	void areNotDerivedByARunThatHasBeenOvertaken() {
		Claimant paused = run(this.identity);
		IdempotencyContext context = paused.context();
		this.clock.advance(LEASE);
		overtake();
		assertThatExceptionOfType(IdempotencyPendingException.class).isThrownBy(() -> derive(context));
	}

	/**
	 * The record of the root would end after the response of the other run.
	 */
	@Test
	void areOthersInTheRunOfAnEqualRequestAlsoIfAnOvertakenRunHasFailedMeanwhile() {
		Claimant paused = run(this.identity);
		String sent = derive(paused);
		this.clock.advance(LEASE);
		Claimant next = overtake();
		assertThat(derive(next)).isEqualTo(sent);
		next.complete(Samples.response("done"));
		this.clock.advance(WINDOW.dividedBy(2));
		paused.release();
		this.clock.advance(WINDOW.dividedBy(2));
		assertThat(derive(run(this.identity))).isNotEqualTo(sent);
	}

	@Test
	void areOthersInTheRunOfAnEqualRequestAfterTheRetention() {
		Claimant first = run(this.identity);
		String sent = derive(first);
		this.clock.advance(LEASE.dividedBy(2));
		first.complete(Samples.response("done"));
		this.clock.advance(WINDOW.minusMillis(1));
		assertThat(this.engine.claimant(Samples.operation(), this.identity, LEASE).claim())
			.isInstanceOf(Claim.Completed.class);
		this.clock.advance(Duration.ofMillis(1));
		assertThat(derive(run(this.identity))).isNotEqualTo(sent);
	}

	/**
	 * The record of the root would end after the response, if it began when the key is
	 * derived.
	 */
	@Test
	void areOthersInTheRunOfAnEqualRequestIfTheyWereDerivedAfterTheResponse() {
		Duration window = Duration.ofSeconds(1);
		RunIdentity brief = new RunIdentity(Samples.key(), this.request, window, true);
		try (IdempotencyEngine real = new IdempotencyEngine(new InMemoryIdempotencyStore(), OnStoreFailure.REJECT,
				Duration.ofHours(1))) {
			long begun = System.nanoTime();
			Claimant first = real.claimant(Samples.operation(), brief, window);
			assertThat(first.claim().isAcquired()).isTrue();
			IdempotencyContext context = first.context();
			first.complete(Samples.response("done"));
			await().until(() -> System.nanoTime() - begun > window.toNanos() / 2);
			String sent = derive(context);
			Claimant next = await().until(() -> real.claimant(Samples.operation(), brief, window),
					(claimant) -> claimant.claim().isAcquired());
			assertThat(derive(next)).isNotEqualTo(sent);
		}
	}

	@Test
	void areOthersInAnEqualRunOfAnotherCaller() {
		RunIdentity other = new RunIdentity(Samples.key(), this.request, WINDOW, true);
		assertThat(derive(run(other))).isNotEqualTo(derive(run(this.identity)));
	}

	@Test
	void areDerivedInStepsAsInTheirRun() {
		Claimant first = run(this.identity);
		String sent = deriveInStep(first);
		first.release();
		Claimant retry = run(this.identity);
		assertThat(deriveInStep(retry)).isEqualTo(sent);
		assertThat(derive(retry)).isNotEqualTo(sent);
		retry.complete(Samples.response("done"));
		this.clock.advance(WINDOW);
		assertThat(deriveInStep(run(this.identity))).isNotEqualTo(sent);
	}

	@Test
	void areDerivedFromAnyOtherKeyItself() {
		RunIdentity sent = RunIdentity.of(Samples.key(), this.request, WINDOW);
		Claimant run = run(sent);
		IdempotencyContext context = run.context();
		assertThat(context.root()).isEqualTo(sent.key());
		run.release();
		assertThat(this.store.calls()).noneMatch((call) -> call.verb() == Verb.COMPLETE);
		this.clock.advance(WINDOW.multipliedBy(2));
		assertThat(derive(run(sent))).isEqualTo(derive(context));
	}

	@Test
	void areRecordedInTheDatabaseUnderATransaction() {
		Claimant first = transaction();
		String sent = derive(first);
		assertThat(this.store.calls()).noneMatch((call) -> call.verb() == Verb.COMPLETE);
		assertThat(this.database.records.calls()).extracting(Call::verb).containsExactly(Verb.COMPLETE);
		first.release();
		assertThat(derive(transaction())).isEqualTo(sent);
	}

	@Test
	void areNotDerivedWhileTheStoreIsUnreachable() {
		Claimant run = run(this.identity);
		IdempotencyContext context = run.context();
		this.store.failing(Fault.UNREACHABLE, Verb.COMPLETE);
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(() -> derive(context));
		this.store.mended();
		String sent = derive(context);
		run.release();
		assertThat(derive(run(this.identity))).isEqualTo(sent);
	}

	@ParameterizedTest
	@EnumSource(names = { "COMPLETE", "CLAIM" })
	void areTheSameIfTheReplyOfTheStoreIsLost(Verb verb) {
		Claimant first = run(this.identity);
		IdempotencyContext context = first.context();
		this.store.failingOnce(Fault.REPLY_LOST, Verb.COMPLETE);
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(() -> derive(context));
		String sent = derive(context);
		first.release();
		IdempotencyContext retry = run(this.identity).context();
		this.store.failingOnce(Fault.REPLY_LOST, verb);
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(() -> derive(retry));
		assertThat(derive(retry)).isEqualTo(sent);
	}

	@Test
	void areDerivedFromTheKeyIfTheRequestRunsUnprotected() {
		try (IdempotencyEngine lenient = new IdempotencyEngine(this.store, OnStoreFailure.PROCEED,
				Duration.ofHours(1))) {
			this.store.failing(Fault.UNREACHABLE, Verb.CLAIM, Verb.COMPLETE);
			Claimant run = lenient.claimant(Samples.operation(), this.identity, LEASE);
			assertThat(run.claim().isAcquired()).isTrue();
			assertThat(run.context().root()).isEqualTo(this.identity.key());
		}
	}

	/**
	 * The root may have been recorded, so that a retry would send another key.
	 */
	@Test
	void areNotDerivedFromTheKeyIfOnlyTheRecordOfTheRootFails() {
		try (IdempotencyEngine lenient = new IdempotencyEngine(this.store, OnStoreFailure.PROCEED,
				Duration.ofHours(1))) {
			Claimant run = lenient.claimant(Samples.operation(), this.identity, LEASE);
			assertThat(run.claim().isAcquired()).isTrue();
			this.store.failingOnce(Fault.REPLY_LOST, Verb.COMPLETE);
			IdempotencyContext context = run.context();
			assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(() -> derive(context));
			String sent = derive(context);
			run.release();
			assertThat(derive(run(this.identity))).isEqualTo(sent);
		}
	}

	private Claimant run(RunIdentity of) {
		Claimant claimant = this.engine.claimant(Samples.operation(), of, LEASE);
		assertThat(claimant.claim().isAcquired()).isTrue();
		return claimant;
	}

	private Claimant transaction() {
		Claimant claimant = this.engine.claimant(Samples.operation(), this.identity, LEASE, this.database);
		assertThat(claimant.claim().isAcquired()).isTrue();
		return claimant;
	}

	/**
	 * Lets another process take the key over.
	 */
	private Claimant overtake() {
		IdempotencyEngine other = new IdempotencyEngine(this.store, OnStoreFailure.REJECT, Duration.ofHours(1));
		this.others.add(other);
		Claimant claimant = other.claimant(Samples.operation(), this.identity, LEASE);
		assertThat(claimant.claim().isAcquired()).isTrue();
		return claimant;
	}

	/**
	 * Derives a key in a step that fails, so that a retry calls it again.
	 */
	private String deriveInStep(Claimant run) {
		List<String> sent = new ArrayList<>();
		IdempotencyContext outer = IdempotencyContext.bind(run.context());
		try {
			assertThatIllegalArgumentException().isThrownBy(() -> this.engine.step("charge", () -> {
				sent.add(derive(Objects.requireNonNull(IdempotencyContext.current())));
				throw new IllegalArgumentException();
			}));
		}
		finally {
			IdempotencyContext.bind(outer);
		}
		return sent.get(0);
	}

	private static String derive(Claimant run) {
		return derive(run.context());
	}

	private static String derive(IdempotencyContext context) {
		return String.valueOf(context.derive("pay", "POST /charges", Samples.fingerprint("charge")).key());
	}

}
