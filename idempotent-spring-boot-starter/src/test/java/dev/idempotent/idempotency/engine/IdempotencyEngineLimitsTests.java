package dev.idempotent.idempotency.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.ForwardingStore;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.ManualClock;
import dev.idempotent.idempotency.OnStoreFailure;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.engine.FaultyStore.Call;
import dev.idempotent.idempotency.engine.FaultyStore.Fault;
import dev.idempotent.idempotency.engine.FaultyStore.Verb;
import dev.idempotent.test.InMemoryIdempotencyStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link IdempotencyEngine} at the limits of its background work.
 */
class IdempotencyEngineLimitsTests {

	private static final Duration LEASE = Duration.ofMillis(60);

	private static final Duration RETENTION = Duration.ofHours(24);

	private static final Fingerprint REQUEST = Samples.fingerprint("request");

	private static final StoredResponse RESPONSE = Samples.response("response");

	private final InMemoryIdempotencyStore memory = new InMemoryIdempotencyStore(new ManualClock());

	private final FaultyStore store = new FaultyStore(this.memory);

	private final IdempotencyEngine engine = new IdempotencyEngine(this.store, OnStoreFailure.REJECT,
			Duration.ofMinutes(10));

	@AfterEach
	void close() {
		this.store.mended();
		this.engine.close();
	}

	@Test
	void triesOneOutstandingResponseOnAnUnreachableStoreWhenItCloses() {
		Thread closing = Thread.currentThread();
		AtomicInteger tried = new AtomicInteger();
		IdempotencyEngine outstanding = new IdempotencyEngine(new ForwardingStore() {

			@Override
			protected IdempotencyStore target() {
				return IdempotencyEngineLimitsTests.this.store;
			}

			@Override
			public boolean complete(IdempotencyKey key, Fingerprint fingerprint, String token, StoredResponse response,
					Duration retention) {
				tried.addAndGet((Thread.currentThread() == closing) ? 1 : 0);
				return super.complete(key, fingerprint, token, response, retention);
			}

		}, OnStoreFailure.REJECT, Duration.ofMinutes(10));
		this.store.failing(Fault.UNREACHABLE, Verb.COMPLETE);
		for (int i = 0; i < 50; i++) {
			Claimant claimant = outstanding.claimant(Samples.operation(), Samples.key(), REQUEST, Duration.ofMinutes(1),
					RETENTION);
			claimant.claim();
			claimant.complete(RESPONSE);
		}
		await().until(() -> this.store.calls().size() > 100);
		tried.set(0);
		outstanding.close();
		assertThat(tried).hasValue(1);
	}

	@Test
	void grantsAKeyForItsLeaseAfterItWasClosed() {
		this.engine.close();
		IdempotencyKey key = Samples.key();
		Claimant late = claimant(key, LEASE);
		assertThat(late.claim()).isEqualTo(new Claim.Acquired());
		late.complete(RESPONSE);
		assertThat(this.memory.claim(key, REQUEST, "rival", LEASE)).is(Samples.completed(RESPONSE));
	}

	@Test
	void stopsRenewalsOfAKeyThatCannotBeCompletedInTheBackground() {
		IdempotencyKey key = Samples.key();
		Claimant runner = claimant(key, LEASE);
		runner.claim();
		this.store.failing(Fault.BUG, Verb.COMPLETE);
		this.store.failingOnce(Fault.UNREACHABLE, Verb.COMPLETE);
		runner.complete(RESPONSE);
		await().until(() -> this.store.count(Verb.COMPLETE, key) == 2);
		IdempotencyKey metronome = Samples.key();
		claimant(metronome, LEASE).claim();
		await().until(() -> {
			List<Call> calls = List.copyOf(this.store.calls());
			return calls.subList(Math.max(0, calls.size() - 8), calls.size())
				.stream()
				.allMatch(new Call(Verb.RENEW, metronome)::equals);
		});
	}

	private Claimant claimant(IdempotencyKey key, Duration lease) {
		return this.engine.claimant(Samples.operation(), key, REQUEST, lease, RETENTION);
	}

}
