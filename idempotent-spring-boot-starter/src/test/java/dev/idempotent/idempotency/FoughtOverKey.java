package dev.idempotent.idempotency;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A key whose claimants report the answers of the store, so that two owners or two
 * responses are detected.
 */
final class FoughtOverKey {

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
		assertThat(this.owner.compareAndSet(null, token)).as("%s is granted the key of %s", token, this.owner).isTrue();
	}

	void isGivenUpBy(String token) {
		assertThat(this.owner.compareAndSet(token, null)).as("%s gives up the key of %s", token, this.owner).isTrue();
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
