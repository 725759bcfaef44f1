package dev.idempotent.idempotency.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.RunDescription;
import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.idempotency.StoredResponse;
import org.jspecify.annotations.Nullable;

/**
 * The row of a key.
 *
 * @param response the response of a completed key, or what runs under a pending one
 * @param remaining the time until its lease or retention ends; not positive afterwards
 * @param epoch the epoch of the database that has the row, or {@code null}
 */
record RecordRow(String token, Fingerprint fingerprint, boolean completed, StoredResponse response, Duration remaining,
		@Nullable String epoch) {

	/**
	 * Reads the columns of {@link RecordSql#find()}.
	 */
	static RecordRow of(ResultSet columns) throws SQLException {
		byte[] response = columns.getBytes(5);
		return new RecordRow(columns.getString(1), new Fingerprint(columns.getInt(2), columns.getString(3)),
				columns.getBoolean(4), (response != null) ? StoredResponse.of(response) : StoredResponse.notKept(),
				Duration.of(columns.getLong(6), ChronoUnit.MICROS), columns.getString(7));
	}

	boolean isExpired() {
		return this.remaining.isNegative() || this.remaining.isZero();
	}

	boolean isHeldBy(String claimant) {
		return !this.completed && this.token.equals(claimant);
	}

	StoredKey toStoredKey() {
		return this.completed ? StoredKey.completed(this.token, this.remaining, this.response)
				: StoredKey.pending(this.token, this.remaining, RunDescription.parse(this.response.bytes()));
	}

	/**
	 * The result of a claim that does not acquire the key.
	 */
	Claim toClaim(Fingerprint claimed) {
		if (claimed.contradicts(this.fingerprint)) {
			return new Claim.Mismatched(this.completed ? null : this.remaining);
		}
		return this.completed ? new Claim.Completed(this.response, this.remaining) : new Claim.Pending(this.remaining);
	}

}
