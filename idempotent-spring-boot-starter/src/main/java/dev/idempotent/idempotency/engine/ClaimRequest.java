package dev.idempotent.idempotency.engine;

import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.RunDescription;
import dev.idempotent.idempotency.RunOrigin;
import org.jspecify.annotations.Nullable;

/**
 * The parameters of one claim.
 *
 * @param key the key
 * @param fingerprint the fingerprint of the request
 * @param origin where the run comes from
 * @param token proves the ownership of the key, and contains the origin
 * @param lease how long the claim holds without renewal
 * @param retention how long the response is kept
 * @param run what runs under the key
 * @param root provides the key from which the run derives others, or {@code null} if that
 * is its own key
 */
record ClaimRequest(IdempotencyKey key, Fingerprint fingerprint, RunOrigin origin, String token, Duration lease,
		Duration retention, RunDescription run, @Nullable Supplier<IdempotencyKey> root) {

	private static final TokenIds TOKEN_IDS = new TokenIds();

	/**
	 * Creates a request with a new token.
	 */
	static ClaimRequest of(IdempotencyKey key, Fingerprint fingerprint, Guarantee guarantee,
			@Nullable String traceparent, Duration lease, Duration retention, RunDescription run,
			@Nullable Supplier<IdempotencyKey> root) {
		RunOrigin origin = new RunOrigin(Instant.now(), guarantee, traceparent);
		return new ClaimRequest(key, fingerprint, origin, origin.toToken(TOKEN_IDS.next()), lease, retention, run,
				root);
	}

	/**
	 * Creates the context of the run.
	 */
	IdempotencyContext context() {
		IdempotencyContext context = new IdempotencyContext(this.key, this.token, this.fingerprint);
		return (this.root != null) ? context.derivingFrom(this.root, this.retention) : context;
	}

	/**
	 * Creates the request of a step of the run, with the token of the run, so that no
	 * other run can record its result.
	 */
	ClaimRequest ofStep(String step) {
		Supplier<IdempotencyKey> ofRun = this.root;
		return new ClaimRequest(stepKey(this.key, step), this.fingerprint, this.origin, this.token, this.lease,
				this.retention, this.run.ofStep(), (ofRun != null) ? () -> stepKey(ofRun.get(), step) : null);
	}

	private static IdempotencyKey stepKey(IdempotencyKey run, String step) {
		return IdempotencyKey.of(IdempotencyKey.Kind.STEP, "", "", run.digest(), step);
	}

	/**
	 * Creates a request with the token of another run.
	 */
	ClaimRequest withToken(String other) {
		return new ClaimRequest(this.key, this.fingerprint, this.origin, other, this.lease, this.retention, this.run,
				this.root);
	}

	ClaimRequest withNewToken() {
		return of(this.key, this.fingerprint, this.origin.guarantee(), this.origin.traceparent(), this.lease,
				this.retention, this.run, this.root);
	}

	/**
	 * Generates the ids of tokens as UUIDs of version 8 (RFC 9562, 5.8). They are unique
	 * among all processes, but not secret: a token is only of use with access to the
	 * store.
	 */
	static final class TokenIds {

		/**
		 * A source of random numbers has a lock that all requests would wait for. Ids
		 * count on from a random number for so long at most that copies of a process,
		 * such as those restored from a snapshot, do not count on from the same one. The
		 * generator of the JDK for Linux buffers its numbers for as long.
		 */
		private static final long MAX_AGE_MILLIS = 100;

		private static final long VERSION = 0x8000L;

		private static final long BESIDE_VERSION = 0xffffffffffff0fffL;

		private static final long VARIANT = 0x8000000000000000L;

		private static final long BELOW_VARIANT = 0x3fffffffffffffffL;

		private final SecureRandom random = new SecureRandom();

		private final LongSupplier clock;

		private volatile @Nullable Sequence sequence;

		TokenIds() {
			this(System::currentTimeMillis);
		}

		TokenIds(LongSupplier clock) {
			this.clock = clock;
		}

		String next() {
			long now = this.clock.getAsLong();
			Sequence current = this.sequence;
			if (current == null || !current.isUsedAt(now)) {
				current = new Sequence(now, this.random.nextLong(), new AtomicLong(this.random.nextLong()));
				this.sequence = current;
			}
			return current.next();
		}

		/**
		 * Ids with the same random first half.
		 *
		 * @param start when the random numbers were drawn
		 * @param high the first half
		 * @param low the second half of the next id
		 */
		private record Sequence(long start, long high, AtomicLong low) {

			boolean isUsedAt(long now) {
				return now >= this.start && now - this.start < MAX_AGE_MILLIS;
			}

			String next() {
				return new UUID((this.high & BESIDE_VERSION) | VERSION,
						(this.low.getAndIncrement() & BELOW_VARIANT) | VARIANT)
					.toString();
			}

		}

	}

}
