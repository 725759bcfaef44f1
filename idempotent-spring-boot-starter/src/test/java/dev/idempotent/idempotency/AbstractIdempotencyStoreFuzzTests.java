package dev.idempotent.idempotency;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

import dev.idempotent.test.InMemoryIdempotencyStore;
import dev.idempotent.testing.ConcurrentRuns;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random histories and races on a store. {@code -Dfuzz.histories=100000} runs more
 * histories, {@code -Dfuzz.seed=17 -Dfuzz.histories=1} repeats one.
 */
@Tag("fuzz")
@Timeout(value = 1, unit = TimeUnit.HOURS)
public abstract class AbstractIdempotencyStoreFuzzTests {

	private static final int HISTORIES = Integer.getInteger("fuzz.histories", 25);

	private static final int FIRST_SEED = Integer.getInteger("fuzz.seed", 1);

	private static final int THREADS = 8;

	private static final int KEYS = 3;

	private static final int ATTEMPTS = 60;

	/**
	 * The store under test, empty or not.
	 */
	protected abstract IdempotencyStore store();

	/**
	 * Removes a key from the store under test, as its expiry would.
	 */
	protected abstract void forget(IdempotencyKey key);

	@Test
	void answersEachStepOfEveryHistoryAsTheModelDoes() throws InterruptedException {
		AtomicInteger next = new AtomicInteger();
		List<Integer> played = ConcurrentRuns.of(THREADS, (runner) -> {
			int count = 0;
			for (int i = next.getAndIncrement(); i < HISTORIES; i = next.getAndIncrement()) {
				new History(FIRST_SEED + i, store(), this::forget).play();
				count++;
			}
			return count;
		});
		assertThat(played.stream().mapToInt(Integer::intValue).sum()).isEqualTo(HISTORIES);
	}

	@Test
	void neverGrantsAKeyToTwoOwnersOrStoresTwoResponses() throws InterruptedException {
		for (int i = 0; i < Math.max(10, HISTORIES / 10); i++) {
			int seed = FIRST_SEED + i;
			List<FoughtOverKey> keys = Stream.generate(() -> new FoughtOverKey(store())).limit(KEYS).toList();
			ConcurrentRuns.of(THREADS, (runner) -> {
				Fighter fighter = new Fighter(store(), "token " + runner, seed * THREADS + runner);
				for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
					fighter.attempt(keys.get(attempt % KEYS));
				}
				return runner;
			});
			assertThat(keys).allSatisfy(FoughtOverKey::endsWithTheOneResponseThatAllHaveSeen);
		}
	}

	/**
	 * A random sequence of steps on a few keys, executed on a store and on the model.
	 * Time is simulated: leases are long, and an expired key is removed from both.
	 */
	static final class History {

		private static final int STEPS = 60;

		private static final int KEYS = 2;

		private static final Duration LONG = Duration.ofMinutes(10);

		private static final List<String> TOKENS = List.of("a", "b", "c");

		private static final List<Fingerprint> FINGERPRINTS = List.of(Samples.fingerprint("first"),
				Samples.fingerprint("second"), new Fingerprint(Fingerprint.CURRENT_VERSION + 1, "0"));

		private final int seed;

		private final Random random;

		private final IdempotencyStore store;

		private final InMemoryIdempotencyStore model = new InMemoryIdempotencyStore(InstantSource.system());

		private final Consumer<IdempotencyKey> forget;

		private final List<IdempotencyKey> keys = Stream.generate(Samples::key).limit(KEYS).toList();

		private final List<String> told = new ArrayList<>();

		History(int seed, IdempotencyStore store, Consumer<IdempotencyKey> forget) {
			this.seed = seed;
			this.random = new Random(seed);
			this.store = store;
			this.forget = forget;
		}

		void play() {
			for (int i = 0; i < STEPS; i++) {
				int chance = this.random.nextInt(100);
				if (chance < 2) {
					this.keys.forEach(this::forget);
				}
				else if (chance < 8) {
					forget(oneOf(this.keys));
				}
				else {
					ask(oneOf(this.keys), oneOf(TOKENS));
				}
			}
		}

		private void forget(IdempotencyKey key) {
			tell("forget", key, "");
			this.model.forget(key);
			this.forget.accept(key);
		}

		private void ask(IdempotencyKey key, String token) {
			Fingerprint fingerprint = oneOf(FINGERPRINTS);
			StoredResponse response = this.random.nextBoolean() ? Samples.response("response " + this.told.size())
					: StoredResponse.notKept();
			switch (this.random.nextInt(7)) {
				case 0, 1 -> compare("claim", key, token + " for " + FINGERPRINTS.indexOf(fingerprint),
						(store) -> comparable(store.claim(key, fingerprint, token, LONG)));
				case 2 ->
					compare("complete", key, token + " for " + FINGERPRINTS.indexOf(fingerprint) + ": " + response,
							(store) -> store.complete(key, fingerprint, token, response, LONG));
				case 3 -> compare("release", key, token, (store) -> store.release(key, token));
				case 4 -> compare("find", key, "", (store) -> comparable(store.find(key)));
				case 5 -> compare("forget completed", key, token, (store) -> store.forget(key, token));
				default -> compare("renew", key, token, (store) -> store.renew(key, token, LONG));
			}
		}

		/**
		 * Executes a step once or, to simulate a lost reply, twice.
		 */
		private void compare(String verb, IdempotencyKey key, String details, Function<IdempotencyStore, Object> step) {
			Object expected = step.apply(this.model);
			for (int i = this.random.nextInt(4) / 3; i >= 0; i--) {
				tell(verb, key, details + " -> " + expected);
				assertThat(step.apply(this.store)).as(this::history).isEqualTo(expected);
			}
		}

		private static Object comparable(Claim claim) {
			if (claim instanceof Claim.Completed completed) {
				return completed.response();
			}
			if (claim instanceof Claim.Mismatched mismatched) {
				return (mismatched.remainingLease() != null) ? "Mismatched with a pending one" : "Mismatched";
			}
			return (claim instanceof Claim.Pending) ? "Pending" : claim;
		}

		private static Object comparable(@Nullable StoredKey found) {
			return (found == null) ? "absent" : Arrays.asList(found.state(), found.token(), found.response());
		}

		private <T> T oneOf(List<T> values) {
			return values.get(this.random.nextInt(values.size()));
		}

		private void tell(String verb, IdempotencyKey key, String details) {
			this.told.add("%d. %s key %d %s".formatted(this.told.size() + 1, verb, this.keys.indexOf(key), details));
		}

		private String history() {
			return "-Dfuzz.seed=%d%n%s%n".formatted(this.seed, String.join(System.lineSeparator(), this.told));
		}

	}

	/**
	 * One of many claimants of a few keys. Acts at random, each time with a new token and
	 * sometimes with an expired one.
	 */
	static final class Fighter {

		private static final Duration LONG = Duration.ofMinutes(10);

		private static final List<String> REQUESTS = List.of("first", "second");

		private final IdempotencyStore store;

		private final String name;

		private final Random random;

		private String token;

		private int attempts;

		Fighter(IdempotencyStore store, String name, int seed) {
			this.store = store;
			this.name = name;
			this.random = new Random(seed);
			this.token = name;
		}

		void attempt(FoughtOverKey fought) {
			meddleByChance(fought);
			this.token = this.name + "/" + this.attempts++;
			String request = REQUESTS.get(this.random.nextInt(REQUESTS.size()));
			Claim claim = claim(fought, request);
			if (claim instanceof Claim.Acquired) {
				fought.isGrantedTo(this.token);
				hold(fought, request);
				settle(fought, request);
			}
			else if (claim instanceof Claim.Completed completed) {
				fought.isSeenCompleted(request, completed.response());
			}
		}

		private void meddleByChance(FoughtOverKey fought) {
			if (this.random.nextInt(4) == 0) {
				meddle(fought);
			}
		}

		/**
		 * Attempts what only an owner may do, with a token that no longer or never owned
		 * the key.
		 */
		private void meddle(FoughtOverKey fought) {
			switch (this.random.nextInt(16)) {
				case 0 -> {
					StoredResponse response = response("first");
					if (this.store.complete(fought.key(), Samples.fingerprint("first"), this.token, response, LONG)) {
						fought.isCompletedByAStranger(this.token, response);
					}
				}
				case 1, 2, 3, 4, 5, 6 -> assertThat(this.store.renew(fought.key(), this.token, LONG)).isFalse();
				default -> this.store.release(fought.key(), this.token);
			}
		}

		private void hold(FoughtOverKey fought, String request) {
			for (int i = this.random.nextInt(3); i > 0; i--) {
				assertThat(this.store.renew(fought.key(), this.token, LONG)).isTrue();
				assertThat(claim(fought, request)).isEqualTo(new Claim.Acquired());
			}
		}

		private void settle(FoughtOverKey fought, String request) {
			if (this.random.nextInt(40) == 0) {
				StoredResponse response = response(request);
				assertThat(this.store.complete(fought.key(), Samples.fingerprint(request), this.token, response, LONG))
					.isTrue();
				fought.isCompletedByItsOwner(response);
			}
			else {
				fought.isGivenUpBy(this.token);
				assertThat(this.store.release(fought.key(), this.token)).isTrue();
				meddleByChance(fought);
			}
		}

		private Claim claim(FoughtOverKey fought, String request) {
			return this.store.claim(fought.key(), Samples.fingerprint(request), this.token, LONG);
		}

		private StoredResponse response(String request) {
			return Samples.response(request + " by " + this.token);
		}

	}

	/**
	 * A key whose claimants report the answers of the store, so that two owners or two
	 * responses are detected.
	 */
	static final class FoughtOverKey {

		private final IdempotencyKey key = Samples.key();

		private final IdempotencyStore store;

		/**
		 * The token that owns the key, from the answer to its claim until just before its
		 * release; the token that completes the key owns it for good.
		 */
		private final AtomicReference<@Nullable String> owner = new AtomicReference<>();

		private final Set<StoredResponse> kept = ConcurrentHashMap.newKeySet();

		private final Set<StoredResponse> seen = ConcurrentHashMap.newKeySet();

		FoughtOverKey(IdempotencyStore store) {
			this.store = store;
		}

		IdempotencyKey key() {
			return this.key;
		}

		void isGrantedTo(String token) {
			assertThat(this.owner.compareAndSet(null, token)).as("%s is granted the key of %s", token, this.owner)
				.isTrue();
		}

		void isGivenUpBy(String token) {
			assertThat(this.owner.compareAndSet(token, null)).as("%s gives up the key of %s", token, this.owner)
				.isTrue();
		}

		void isCompletedByItsOwner(StoredResponse response) {
			this.kept.add(response);
		}

		void isCompletedByAStranger(String token, StoredResponse response) {
			isGrantedTo(token);
			this.kept.add(response);
		}

		void isSeenCompleted(String request, StoredResponse response) {
			assertThat(new String(response.bytes(), StandardCharsets.UTF_8)).startsWith(request);
			this.seen.add(response);
		}

		void endsWithTheOneResponseThatAllHaveSeen() {
			StoredResponse last = Samples.response("last");
			if (this.store.complete(this.key, Samples.fingerprint("last"), "last", last, Duration.ofMinutes(1))) {
				isCompletedByAStranger("last", last);
			}
			assertThat(this.kept).hasSize(1).containsAll(this.seen);
			Fingerprint incomparable = new Fingerprint(Fingerprint.CURRENT_VERSION + 1, "0");
			assertThat(this.store.claim(this.key, incomparable, "reader", Duration.ofMinutes(1)))
				.is(Samples.completed(this.kept.iterator().next()));
		}

	}

}
