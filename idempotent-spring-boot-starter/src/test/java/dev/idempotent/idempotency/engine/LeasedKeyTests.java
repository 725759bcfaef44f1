package dev.idempotent.idempotency.engine;

import java.time.Duration;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import dev.idempotent.idempotency.ForwardingStore;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyStore.Renewal;
import dev.idempotent.idempotency.OnStoreFailure;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.test.InMemoryIdempotencyStore;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link LeasedKey}: how leases are renewed.
 */
class LeasedKeyTests {

	private static final Duration LEASE = Duration.ofSeconds(2);

	@Test
	void renewManyLeasesInOneBatchOfADatabase() {
		Batching store = new Batching();
		try (IdempotencyEngine engine = new IdempotencyEngine(store, OnStoreFailure.REJECT, Duration.ofMinutes(1))) {
			List<Claimant> claimants = Stream
				.generate(() -> engine.claimant(Samples.operation(),
						RunIdentity.of(Samples.key(), Samples.fingerprint("request"), LEASE), LEASE))
				.limit(100)
				.toList();
			claimants.forEach(Claimant::claim);
			await().until(() -> store.largest.get() == 100);
			assertThat(store.alone).hasValue(0);
			claimants.forEach(Claimant::release);
			int batches = store.batches.get();
			claimants.get(0).release();
			assertThat(store.batches.get() - batches).isLessThan(2);
		}
	}

	@Test
	void continueAfterAnError() {
		ShortOfMemory store = new ShortOfMemory();
		try (IdempotencyEngine engine = new IdempotencyEngine(store, OnStoreFailure.REJECT, Duration.ofMinutes(1))) {
			Claimant claimant = engine.claimant(Samples.operation(),
					RunIdentity.of(Samples.key(), Samples.fingerprint("request"), LEASE), LEASE);
			claimant.claim();
			await().until(() -> store.renewals.get() >= 3);
			claimant.release();
		}
	}

	@Test
	void renewAShortLeaseThatBeginsAfterALongOne() {
		ShortOfMemory store = new ShortOfMemory();
		try (IdempotencyEngine engine = new IdempotencyEngine(store, OnStoreFailure.REJECT, Duration.ofMinutes(1))) {
			Claimant patient = engine.claimant(Samples.operation(),
					RunIdentity.of(Samples.key(), Samples.fingerprint("request"), LEASE), Duration.ofHours(1));
			Claimant claimant = engine.claimant(Samples.operation(),
					RunIdentity.of(Samples.key(), Samples.fingerprint("request"), LEASE), LEASE);
			patient.claim();
			claimant.claim();
			await().until(() -> store.renewals.get() >= 3);
			claimant.release();
			patient.release();
		}
	}

	@Test
	void haveNoTimerOfTheirOwnForEachClaim() {
		AtomicInteger scheduled = new AtomicInteger();
		IdempotencyStore store = new InMemoryIdempotencyStore(InstantSource.system());
		try (ClaimScheduler scheduler = new ClaimScheduler(LEASE, new ObserverList(List.of())) {
			@Override
			Future<?> after(long nanos, Runnable step) {
				scheduled.incrementAndGet();
				return super.after(nanos, step);
			}
		}) {
			LeasedKey.Leases leases = leases(store, scheduler);
			for (int i = 0; i < 100; i++) {
				LeasedKey claim = claim(leases, Duration.ofHours(1));
				assertThat(claim.claim().isAcquired()).isTrue();
				claim.release();
			}
			assertThat(scheduled).hasValue(1);
		}
	}

	@Test
	void scanOnceForClaimsThatAreDueAtAboutTheSameTime() {
		AtomicInteger scans = new AtomicInteger();
		ShortOfMemory store = new ShortOfMemory();
		try (ClaimScheduler scheduler = new ClaimScheduler(LEASE, new ObserverList(List.of())) {
			@Override
			Future<?> after(long nanos, Runnable step) {
				return super.after(nanos, (nanos > 0) ? () -> {
					scans.incrementAndGet();
					step.run();
				} : step);
			}
		}) {
			LeasedKey.Leases leases = leases(store, scheduler);
			for (int i = 0; i < 300; i++) {
				assertThat(claim(leases, LEASE.plusMillis(i)).claim().isAcquired()).isTrue();
			}
			await().until(() -> store.renewals.get() >= 300);
			assertThat(scans).hasValueLessThan(30);
		}
	}

	private static LeasedKey.Leases leases(IdempotencyStore store, ClaimScheduler scheduler) {
		ObserverList noObservers = new ObserverList(List.of());
		return new LeasedKey.Leases(new ObservedStore(store, OnStoreFailure.REJECT, noObservers), scheduler,
				Duration.ofMinutes(1));
	}

	private static LeasedKey claim(LeasedKey.Leases leases, Duration lease) {
		ClaimRequest request = ClaimRequest.of(Samples.key(), Samples.fingerprint("request"), Guarantee.LEASE, null,
				lease, lease, Samples.run(), null);
		return new LeasedKey(request, true, leases, new InFlightKeys());
	}

	private static final class ShortOfMemory extends ForwardingStore {

		private final IdempotencyStore memory = new InMemoryIdempotencyStore(InstantSource.system());

		private final AtomicInteger renewals = new AtomicInteger();

		@Override
		protected IdempotencyStore target() {
			return this.memory;
		}

		@Override
		public boolean renew(IdempotencyKey key, String token, Duration lease) {
			if (this.renewals.incrementAndGet() == 1) {
				throw new OutOfMemoryError("of the test");
			}
			return super.renew(key, token, lease);
		}

	}

	private static final class Batching extends ForwardingStore {

		private final IdempotencyStore memory = new InMemoryIdempotencyStore(InstantSource.system());

		private final AtomicInteger largest = new AtomicInteger();

		private final AtomicInteger batches = new AtomicInteger();

		private final AtomicInteger alone = new AtomicInteger();

		@Override
		protected IdempotencyStore target() {
			return this.memory;
		}

		@Override
		public boolean isDatabase() {
			return true;
		}

		@Override
		public boolean renew(IdempotencyKey key, String token, Duration lease) {
			this.alone.incrementAndGet();
			return super.renew(key, token, lease);
		}

		@Override
		public Set<Renewal> renewAll(List<Renewal> held) {
			this.batches.incrementAndGet();
			this.largest.accumulateAndGet(held.size(), Math::max);
			held.forEach((one) -> this.memory.renew(one.key(), one.token(), one.lease()));
			return new HashSet<>(held);
		}

	}

}
