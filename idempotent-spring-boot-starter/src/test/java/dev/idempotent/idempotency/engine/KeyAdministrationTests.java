package dev.idempotent.idempotency.engine;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.ForwardingStore;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.OnStoreFailure;
import dev.idempotent.idempotency.RunOrigin;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.engine.FaultyStore.Call;
import dev.idempotent.idempotency.engine.FaultyStore.Fault;
import dev.idempotent.idempotency.engine.FaultyStore.Gate;
import dev.idempotent.idempotency.engine.FaultyStore.Verb;
import dev.idempotent.idempotency.engine.KeyAdministration.FoundKey;
import dev.idempotent.idempotency.engine.KeyAdministration.KeyChange;
import dev.idempotent.idempotency.engine.KeyAdministration.RunningKey;
import dev.idempotent.idempotency.engine.KeyAdministration.RunningKeys;
import dev.idempotent.test.InMemoryIdempotencyStore;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link KeyAdministration}.
 */
class KeyAdministrationTests {

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private static final Fingerprint REQUEST = Samples.fingerprint("request");

	private static final StoredResponse RESPONSE = Samples.response("response");

	private final FaultyStore store = new FaultyStore(new InMemoryIdempotencyStore(InstantSource.system()));

	private final InMemoryIdempotencyStore memory = new InMemoryIdempotencyStore();

	private final FaultyStore database = new FaultyStore(new InMemoryIdempotencyStore(InstantSource.system()));

	private final IdempotencyKey key = Samples.key();

	private final KeyAdministration leases = new KeyAdministration(this.store, List::of, PayloadEncryption.NONE);

	private final KeyAdministration transactions = new KeyAdministration(this.store, () -> List.of(this.database),
			PayloadEncryption.NONE);

	@Test
	void findsNothingOfAnAbsentKey() {
		assertThat(this.transactions.find(this.key)).isNull();
		assertThat(this.transactions.release(this.key, null).outcome()).isEqualTo(KeyChange.Outcome.ABSENT);
		assertThat(this.transactions.forget(this.key, null).outcome()).isEqualTo(KeyChange.Outcome.ABSENT);
	}

	@Test
	void findsTheOriginOfARun() {
		RunOrigin origin = new RunOrigin(Instant.parse("2026-03-01T03:04:11.207Z"), Guarantee.TRANSACTION,
				"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
		claimIn(this.store, origin.toToken(UUID.randomUUID().toString()));
		FoundKey found = Objects.requireNonNull(this.leases.find(this.key));
		assertThat(found.deciding().origin()).isEqualTo(origin);
	}

	@Test
	void forgetsAKeyWhoseResponseIsDamaged() {
		this.store.complete(this.key, REQUEST, "owner", StoredResponse.of(new byte[] { (byte) 0xE1, 100 }), MINUTE);
		FoundKey found = Objects.requireNonNull(this.leases.find(this.key));
		assertThat(found.deciding().replayable()).isFalse();
		assertThat(this.leases.forget(this.key, null).outcome()).isEqualTo(KeyChange.Outcome.DONE);
		assertThat(claimIn(this.store, "rival")).isEqualTo(new Claim.Acquired());
	}

	@Test
	void letsTheRecordOfTheDatabaseDecide() {
		claimIn(this.store, "a retry");
		completeIn(this.database, "owner");
		FoundKey found = Objects.requireNonNull(this.transactions.find(this.key));
		assertThat(found.deciding().state()).isEqualTo(StoredKey.State.COMPLETED);
		assertThat(Objects.requireNonNull(found.inStore()).state()).isEqualTo(StoredKey.State.PENDING);
	}

	@Test
	void releasesAPendingKey() {
		claimIn(this.store, "owner");
		KeyChange change = this.leases.release(this.key, null);
		assertThat(change.outcome()).isEqualTo(KeyChange.Outcome.DONE);
		assertThat(change.before()).isNotNull();
		assertThat(change.now()).isNull();
		assertThat(claimIn(this.store, "rival")).isEqualTo(new Claim.Acquired());
	}

	@Test
	void neverReleasesACompletedKeyOrForgetsAPendingOne() {
		completeIn(this.store, "owner");
		assertThat(this.leases.release(this.key, null).outcome()).isEqualTo(KeyChange.Outcome.REFUSED);
		assertThat(claimIn(this.store, "rival")).is(Samples.completed(RESPONSE));
		IdempotencyKey running = Samples.key();
		this.store.claim(running, REQUEST, "owner", MINUTE);
		assertThat(this.leases.forget(running, null).outcome()).isEqualTo(KeyChange.Outcome.REFUSED);
		assertThat(this.store.renew(running, "owner", MINUTE)).isTrue();
	}

	@Test
	void neverForgetsARecordWhileAClaimCouldWriteItBack() {
		claimIn(this.store, "a retry");
		completeIn(this.database, "owner");
		assertThat(this.transactions.forget(this.key, null).outcome()).isEqualTo(KeyChange.Outcome.REFUSED);
		assertThat(claimIn(this.database, "rival")).is(Samples.completed(RESPONSE));
		assertThat(this.transactions.release(this.key, null).outcome()).isEqualTo(KeyChange.Outcome.DONE);
		assertThat(this.transactions.forget(this.key, null).outcome()).isEqualTo(KeyChange.Outcome.DONE);
	}

	@Test
	void forgetsTheRecordOfTheDatabaseBeforeTheKeyInTheStore() {
		completeIn(this.store, "a retry");
		completeIn(this.database, "owner");
		this.store.failing(Fault.UNREACHABLE, Verb.FORGET);
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> this.transactions.forget(this.key, null));
		assertThat(this.database.find(this.key)).isNull();
		assertThat(claimIn(this.store, "rival")).is(Samples.completed(RESPONSE));
		this.store.mended();
		assertThat(this.transactions.forget(this.key, null).outcome()).isEqualTo(KeyChange.Outcome.DONE);
		assertThat(this.transactions.find(this.key)).isNull();
	}

	@Test
	void changesNothingWhileAPlaceIsUnreachable() {
		completeIn(this.store, "owner");
		completeIn(this.database, "owner");
		this.store.failing(Fault.UNREACHABLE, Verb.FIND);
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> this.transactions.forget(this.key, null));
		assertThat(this.database.calls()).doesNotContain(new Call(Verb.FORGET, this.key));
		assertThat(this.database.find(this.key)).isNotNull();
	}

	@Test
	void findsTheRecordOfTheDatabaseWithoutTheStore() {
		completeIn(this.database, "owner");
		this.store.failing(Fault.UNREACHABLE, Verb.FIND);
		FoundKey found = Objects.requireNonNull(this.transactions.find(this.key));
		assertThat(found.deciding().state()).isEqualTo(StoredKey.State.COMPLETED);
		assertThat(found.storeAnswered()).isFalse();
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> this.leases.find(this.key));
	}

	@Test
	void leavesAKeyToTheClaimThatTookItOver() {
		claimIn(this.store, "owner");
		KeyAdministration late = new KeyAdministration(new ForwardingStore() {

			@Override
			protected IdempotencyStore target() {
				return KeyAdministrationTests.this.store;
			}

			@Override
			public boolean release(IdempotencyKey key, String token) {
				target().release(key, "owner");
				claimIn(target(), "rival");
				return super.release(key, token);
			}

		}, List::of, PayloadEncryption.NONE);
		KeyChange change = late.release(this.key, null);
		assertThat(change.outcome()).isEqualTo(KeyChange.Outcome.CONTENDED);
		assertThat(change.now()).isNotNull();
		assertThat(this.store.renew(this.key, "rival", MINUTE)).isTrue();
	}

	@Test
	void releasesOnlyTheClaimThatTheOperatorHasSeen() {
		Instant seen = Instant.parse("2026-03-01T03:04:11.207Z");
		Instant later = seen.plusMillis(1);
		claimIn(this.store, tokenOf(seen));
		AtomicInteger lookUps = new AtomicInteger();
		KeyAdministration late = new KeyAdministration(new ForwardingStore() {

			@Override
			protected IdempotencyStore target() {
				return KeyAdministrationTests.this.store;
			}

			@Override
			public @Nullable StoredKey find(IdempotencyKey key) {
				if (lookUps.incrementAndGet() == 2) {
					target().release(key, tokenOf(seen));
					claimIn(target(), tokenOf(later));
				}
				return super.find(key);
			}

		}, List::of, PayloadEncryption.NONE);
		assertThat(late.release(this.key, seen).outcome()).isEqualTo(KeyChange.Outcome.CONTENDED);
		assertThat(this.store.renew(this.key, tokenOf(later), MINUTE)).isTrue();
		assertThat(this.leases.release(this.key, seen).outcome()).isEqualTo(KeyChange.Outcome.OTHER_RUN);
		assertThat(this.leases.release(this.key, later).outcome()).isEqualTo(KeyChange.Outcome.DONE);
	}

	private static String tokenOf(Instant since) {
		return new RunOrigin(since, Guarantee.LEASE, null).toToken("0".repeat(36));
	}

	@Test
	void reportsAKeyThatWasCompletedAgain() {
		completeIn(this.store, "owner");
		KeyAdministration contended = new KeyAdministration(new ForwardingStore() {

			@Override
			protected IdempotencyStore target() {
				return KeyAdministrationTests.this.store;
			}

			@Override
			public boolean forget(IdempotencyKey key, String token) {
				boolean forgotten = super.forget(key, token);
				completeIn(target(), "rival");
				return forgotten;
			}

		}, List::of, PayloadEncryption.NONE);
		assertThat(contended.forget(this.key, null).outcome()).isEqualTo(KeyChange.Outcome.CONTENDED);
	}

	@Test
	void tellsThatAClaimCouldWriteAForgottenRecordBack() {
		completeIn(this.database, "owner");
		KeyAdministration contended = new KeyAdministration(this.store, () -> List.of(new ForwardingStore() {

			@Override
			protected IdempotencyStore target() {
				return KeyAdministrationTests.this.database;
			}

			@Override
			public boolean forget(IdempotencyKey key, String token) {
				claimIn(KeyAdministrationTests.this.store, "a retry that has read the record");
				return super.forget(key, token);
			}

		}), PayloadEncryption.NONE);
		assertThat(contended.forget(this.key, null).outcome()).isEqualTo(KeyChange.Outcome.CONTENDED);
		completeIn(this.store, "a retry that has read the record");
		assertThat(claimIn(this.store, "rival")).is(Samples.completed(RESPONSE));
		assertThat(this.transactions.forget(this.key, null).outcome()).isEqualTo(KeyChange.Outcome.DONE);
		assertThat(claimIn(this.store, "rival")).isEqualTo(new Claim.Acquired());
	}

	@Test
	void releasesTheKeyOfALiveRunUntilItsNextRenewal() {
		Duration lease = Duration.ofMillis(300);
		try (IdempotencyEngine engine = new IdempotencyEngine(this.store, OnStoreFailure.REJECT, MINUTE)) {
			Gate renewal = this.store.gateBefore(Verb.RENEW);
			engine.claimant(Samples.operation(), RunIdentity.of(this.key, REQUEST, MINUTE), lease).claim();
			assertThat(this.leases.release(this.key, null).now()).isNull();
			renewal.open();
			await().until(() -> this.leases.find(this.key) != null);
		}
	}

	@Test
	void asksADatabaseThatIsTheStoreOnlyOnce() {
		IdempotencyStore both = new ForwardingStore() {

			@Override
			protected IdempotencyStore target() {
				return KeyAdministrationTests.this.database;
			}

			@Override
			public boolean isDatabase() {
				return true;
			}

		};
		completeIn(this.database, "owner");
		KeyAdministration administration = new KeyAdministration(both, List::of, PayloadEncryption.NONE);
		FoundKey found = Objects.requireNonNull(administration.find(this.key));
		assertThat(found.inDatabase()).isNotNull();
		assertThat(found.inStore()).isNull();
		assertThat(administration.forget(this.key, null).outcome()).isEqualTo(KeyChange.Outcome.DONE);
		assertThat(this.database.count(Verb.FORGET, this.key)).isEqualTo(1);
	}

	@Test
	void listsTheLongestClaimedKeyFirst() {
		Instant now = Instant.now();
		List<IdempotencyKey> keys = List.of(Samples.key(), Samples.key(), Samples.key());
		List<Integer> ages = List.of(2, 3, 1);
		for (int i = 0; i < 3; i++) {
			this.memory.claim(keys.get(i), REQUEST, tokenOf(now.minusSeconds(ages.get(i))), MINUTE, Samples.run());
		}
		try (IdempotencyEngine engine = engine(this.memory)) {
			assertThat(running(this.memory, engine).keys()).extracting(RunningKey::key)
				.containsExactly(keys.get(1), keys.get(0), keys.get(2));
		}
	}

	@Test
	void listsARunOnceAndWithoutItsSteps() {
		try (IdempotencyEngine engine = engine(this.memory)) {
			Claimant run = engine.claimant(Samples.operation(), RunIdentity.of(this.key, REQUEST, MINUTE), MINUTE);
			run.claim();
			IdempotencyContext.bind(run.context());
			StepClaimant step = engine.step("charge");
			step.claim();
			IdempotencyContext.bind(null);
			assertThat(Objects.requireNonNull(this.memory.find(step.context().key())).run())
				.isEqualTo(Objects.requireNonNull(Objects.requireNonNull(this.memory.find(this.key)).run()).ofStep());
			assertThat(running(this.memory, engine).keys()).singleElement().satisfies((key) -> {
				assertThat(key.key()).isEqualTo(this.key);
				assertThat(key.place()).isEqualTo(RunningKey.Place.STORE);
				assertThat(Objects.requireNonNull(key.run()).operation()).isEqualTo("sample");
			});
			step.release();
			run.release();
			assertThat(running(this.memory, engine).keys()).isEmpty();
		}
	}

	@Test
	void listsTheRunsOfThisProcessIfTheStoreCannot() {
		IdempotencyStore silent = new ForwardingStore() {

			@Override
			protected IdempotencyStore target() {
				return KeyAdministrationTests.this.memory;
			}

			@Override
			public PendingKeys findPending(int atMost) {
				throw new IdempotencyStoreUnavailableException("No reply", null);
			}

		};
		// This one has no list.
		for (IdempotencyStore place : List.of(this.store, silent)) {
			IdempotencyKey running = Samples.key();
			try (IdempotencyEngine engine = engine(place)) {
				Claimant run = engine.claimant(Samples.operation(), RunIdentity.of(running, REQUEST, MINUTE), MINUTE);
				run.claim();
				RunningKeys listed = running(place, engine);
				assertThat(listed.ofAllInstances()).isFalse();
				assertThat(listed.storeAnswered()).isEqualTo(place == this.store);
				assertThat(listed.keys()).singleElement().satisfies((key) -> {
					assertThat(key.key()).isEqualTo(running);
					assertThat(key.place()).isEqualTo(RunningKey.Place.INSTANCE);
					assertThat(key.remaining()).isNull();
				});
				run.release();
			}
		}
	}

	private static RunningKeys running(IdempotencyStore place, IdempotencyEngine engine) {
		return new KeyAdministration(place, List::of, PayloadEncryption.NONE).running(engine.announceRuns(100), 100);
	}

	private static IdempotencyEngine engine(IdempotencyStore place) {
		return new IdempotencyEngine(place, OnStoreFailure.REJECT, MINUTE);
	}

	private Claim claimIn(IdempotencyStore place, String token) {
		return place.claim(this.key, REQUEST, token, MINUTE);
	}

	private void completeIn(IdempotencyStore place, String token) {
		assertThat(place.complete(this.key, REQUEST, token, RESPONSE, MINUTE)).isTrue();
	}

}
