package dev.idempotent.idempotency.claim;

import java.util.Objects;

import dev.idempotent.idempotency.StoredKey;
import org.jspecify.annotations.Nullable;

/**
 * A key as found by an operator: in the database, in the store in front of it, or in
 * both. The database decides.
 *
 * @param inDatabase the committed record in the database, or {@code null}
 * @param inStore the key in the store outside of the database, or {@code null}
 * @param storeAnswered {@code false} if that store was unreachable, so that it may have
 * the key
 */
public record FoundKey(@Nullable StoredKey inDatabase, @Nullable StoredKey inStore, boolean storeAnswered) {

	/**
	 * The key where it is decided.
	 * @return the record in the database if there is one, else the key in the store
	 */
	public StoredKey deciding() {
		return (this.inDatabase != null) ? this.inDatabase : Objects.requireNonNull(this.inStore);
	}

	/**
	 * Returns whether a claim holds the key anywhere.
	 * @return {@code true} also if the database has its response already
	 */
	public boolean isPending() {
		return is(this.inDatabase, StoredKey.State.PENDING) || is(this.inStore, StoredKey.State.PENDING);
	}

	private static boolean is(@Nullable StoredKey found, StoredKey.State state) {
		return found != null && found.state() == state;
	}

}
