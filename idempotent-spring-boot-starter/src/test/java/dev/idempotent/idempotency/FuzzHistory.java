package dev.idempotent.idempotency;

import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

import dev.idempotent.test.InMemoryIdempotencyStore;
import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A random sequence of steps on a few keys, executed on a store and on the model. Time is
 * simulated: leases are long, and an expired key is removed from both.
 */
final class FuzzHistory {

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

	FuzzHistory(int seed, IdempotencyStore store, Consumer<IdempotencyKey> forget) {
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
			case 2 -> compare("complete", key, token + " for " + FINGERPRINTS.indexOf(fingerprint) + ": " + response,
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
