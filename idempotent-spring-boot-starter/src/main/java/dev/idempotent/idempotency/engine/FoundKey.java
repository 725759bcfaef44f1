package dev.idempotent.idempotency.engine;

import java.util.Objects;

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
public record FoundKey(@Nullable KeyState inDatabase, @Nullable KeyState inStore, boolean storeAnswered) {

	/**
	 * The key where it is decided.
	 * @return the record in the database if there is one, else the key in the store
	 */
	public KeyState deciding() {
		return (this.inDatabase != null) ? this.inDatabase : Objects.requireNonNull(this.inStore);
	}

	/**
	 * Returns whether a claim holds the key anywhere.
	 * @return {@code true} also if the database has its response already
	 */
	public boolean isPending() {
		return (this.inDatabase != null && this.inDatabase.isPending())
				|| (this.inStore != null && this.inStore.isPending());
	}

}
