package dev.idempotent.idempotency.engine;

import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.ForwardingStore;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyObserver;
import dev.idempotent.idempotency.IdempotencyObserver.StoreResult;
import dev.idempotent.idempotency.IdempotencyObserver.StoreVerb;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyStore.Renewal;
import dev.idempotent.idempotency.ManualClock;
import dev.idempotent.idempotency.OnStoreFailure;
import dev.idempotent.idempotency.RecordingObserver;
import dev.idempotent.idempotency.RecordingObserver.Retried;
import dev.idempotent.idempotency.RecordingObserver.StoreCall;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.engine.FaultyStore.Fault;
import dev.idempotent.idempotency.engine.FaultyStore.Gate;
import dev.idempotent.idempotency.engine.FaultyStore.Verb;
import dev.idempotent.test.InMemoryIdempotencyStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for what an {@link IdempotencyObserver} sees of the store, of leases and of
 * settlements.
 */
class ObservedStoreTests {

	private static final Duration SHORT = Duration.ofMillis(30);

	private static final Fingerprint REQUEST = Samples.fingerprint("request");

	private static final StoredResponse RESPONSE = Samples.response("response");

	private final InMemoryIdempotencyStore memory = new InMemoryIdempotencyStore(new ManualClock());

	private final FaultyStore store = new FaultyStore(this.memory);

	private final RecordingObserver observer = new RecordingObserver();

	private final IdempotencyKey key = Samples.key();

	private IdempotencyEngine engine = engine(this.store);

	@AfterEach
	void close() {
		this.store.mended();
		this.engine.close();
	}

	@Test
	void reportsEachCallOfTheStore() {
		Claimant runner = claimant(Duration.ofMinutes(1));
		runner.claim();
		runner.complete(RESPONSE);
		assertThat(this.observer.storeCalls()).containsExactly(call(StoreVerb.CLAIM, StoreResult.ANSWERED),
				call(StoreVerb.COMPLETE, StoreResult.ANSWERED));
	}

	@Test
	void reportsRenewedLeases() {
		claimant(SHORT).claim();
		await().until(() -> this.observer.renewed().size() > 1);
		assertThat(this.observer.renewed()).containsOnly(1);
		assertThat(this.observer.storeCalls()).contains(call(StoreVerb.RENEW, StoreResult.ANSWERED));
	}

	@Test
	void reportsLeasesThatAreRenewedTogether() {
		this.engine.close();
		this.engine = engine(new BatchingStore(this.memory));
		for (int i = 0; i < 3; i++) {
			this.engine
				.claimant(Samples.operation(), RunIdentity.of(Samples.key(), REQUEST, Duration.ofHours(1)),
						Duration.ofSeconds(1))
				.claim();
		}
		await().until(() -> this.observer.renewed().stream().mapToInt(Integer::intValue).sum() >= 3);
		assertThat(this.observer.storeCalls())
			.contains(new StoreCall("BatchingStore", StoreVerb.RENEW, StoreResult.ANSWERED));
	}

	@Test
	void reportsALeaseThatIsLostDuringTheWork() throws InterruptedException {
		Gate renewal = this.store.gateBefore(Verb.RENEW);
		claimant(SHORT).claim();
		renewal.awaitArrival();
		takeOver();
		renewal.open();
		await().until(() -> !this.observer.lost().isEmpty());
		assertThat(this.observer.lost()).containsExactly(this.key);
	}

	@Test
	void reportsALeaseThatIsLostAtTheEnd() {
		Claimant runner = claimant(Duration.ofMinutes(1));
		runner.claim();
		takeOver();
		runner.complete(RESPONSE);
		assertThat(this.observer.lost()).containsExactly(this.key);
	}

	@Test
	void reportsEachRepeatedSettlement() {
		Claimant runner = claimant(Duration.ofMinutes(1));
		runner.claim();
		this.store.failing(Fault.UNREACHABLE, Verb.COMPLETE);
		runner.complete(RESPONSE);
		assertThat(this.engine.settlementsWaiting()).isOne();
		await().until(() -> !this.observer.retried().isEmpty());
		this.store.mended();
		await().until(() -> this.engine.settlementsWaiting() == 0);
		assertThat(new LinkedHashSet<>(this.observer.retried())).containsExactly(
				new Retried(StoreVerb.COMPLETE, StoreResult.UNAVAILABLE),
				new Retried(StoreVerb.COMPLETE, StoreResult.ANSWERED));
		assertThat(this.engine.oldestUnsettled()).isZero();
	}

	@Test
	void reportsASettlementThatFails() {
		Claimant runner = claimant(Duration.ofMinutes(1));
		runner.claim();
		this.store.failing(Fault.BUG, Verb.RELEASE);
		this.store.failingOnce(Fault.UNREACHABLE, Verb.RELEASE);
		runner.release();
		await().until(() -> this.engine.settlementsWaiting() == 0);
		assertThat(this.observer.retried()).containsExactly(new Retried(StoreVerb.RELEASE, StoreResult.FAILED));
	}

	private void takeOver() {
		this.memory.forget(this.key);
		this.memory.claim(this.key, Samples.fingerprint("rival"), "rival", Duration.ofMinutes(1));
	}

	private static StoreCall call(StoreVerb verb, StoreResult result) {
		return new StoreCall("FaultyStore", verb, result);
	}

	private Claimant claimant(Duration lease) {
		return this.engine.claimant(Samples.operation(), RunIdentity.of(this.key, REQUEST, Duration.ofHours(1)), lease);
	}

	private IdempotencyEngine engine(IdempotencyStore store) {
		return new IdempotencyEngine(store, OnStoreFailure.REJECT, Duration.ofMinutes(10), PayloadEncryption.NONE,
				List.of(this.observer), () -> null);
	}

	/**
	 * Renews leases together, as a database does.
	 */
	private static final class BatchingStore extends ForwardingStore {

		private final IdempotencyStore store;

		BatchingStore(IdempotencyStore store) {
			this.store = store;
		}

		@Override
		protected IdempotencyStore target() {
			return this.store;
		}

		@Override
		public boolean isDatabase() {
			return true;
		}

		@Override
		public Set<Renewal> renewAll(List<Renewal> renewals) {
			return Set.copyOf(renewals);
		}

		@Override
		public String describe() {
			return "BatchingStore";
		}

	}

}
