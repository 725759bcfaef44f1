package dev.idempotent.idempotency.engine;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.ForwardingStore;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.ManualClock;
import dev.idempotent.idempotency.OnStoreFailure;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.test.InMemoryIdempotencyStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link IdempotencyEngine} on a store in the database that decides under
 * {@code Guarantee.TRANSACTION}, so that no store is in front of it.
 */
class IdempotencyEngineWithoutStoreTests {

	private static final Duration LEASE = Duration.ofMillis(60);

	private static final Fingerprint REQUEST = Samples.fingerprint("request");

	private final DatabaseStore store = new DatabaseStore();

	private final PresetTransactions database = new PresetTransactions();

	private final IdempotencyEngine engine = new IdempotencyEngine(this.store, OnStoreFailure.REJECT,
			Duration.ofMinutes(1));

	private final IdempotencyKey key = Samples.key();

	@AfterEach
	void close() {
		this.engine.close();
	}

	@Test
	void limitsTheClaimsThatWaitForOtherTransactions() {
		this.engine.claimant(Samples.operation(), RunIdentity.of(this.key, REQUEST, LEASE), LEASE, this.database)
			.claim();
		assertThat(this.database.contended).isTrue();
	}

	@Test
	void neverRenewsTheKeyOfAnOpenTransactionTogetherWithLeases() {
		IdempotencyKey leased = Samples.key();
		this.engine.claimant(Samples.operation(), RunIdentity.of(this.key, REQUEST, LEASE), LEASE, this.database)
			.claim();
		this.engine.claimant(Samples.operation(), RunIdentity.of(leased, REQUEST, LEASE), LEASE).claim();
		await().until(() -> this.store.renewed.contains(leased));
		assertThat(this.store.renewed).containsExactly(leased);
	}

	private static final class DatabaseStore extends ForwardingStore {

		private final IdempotencyStore memory = new InMemoryIdempotencyStore(new ManualClock());

		private final Set<IdempotencyKey> renewed = ConcurrentHashMap.newKeySet();

		@Override
		protected IdempotencyStore target() {
			return this.memory;
		}

		@Override
		public boolean isDatabase() {
			return true;
		}

		@Override
		public Set<Renewal> renewAll(List<Renewal> renewals) {
			renewals.forEach((renewal) -> this.renewed.add(renewal.key()));
			return new HashSet<>(renewals);
		}

	}

}
