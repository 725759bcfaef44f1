package dev.idempotent.idempotency.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Stream;

import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyStore.KeyCount;
import dev.idempotent.idempotency.IdempotencyStore.PendingKeys;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.RunDescription;
import dev.idempotent.idempotency.RunOrigin;
import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.engine.KeyAdministration.FoundKey;
import org.jspecify.annotations.Nullable;

/**
 * Lets an operator look a key up, release a pending one and forget a completed one, in
 * the store and in the databases that decide under {@link Guarantee#TRANSACTION}. Every
 * method throws {@link UnsupportedOperationException} if a store cannot do it, and
 * {@link IdempotencyStoreUnavailableException} if its outcome is unknown.
 */
public final class KeyAdministration {

	/**
	 * A key that no request has.
	 */
	private static final IdempotencyKey PROBE = new IdempotencyKey("0".repeat(64));

	private final IdempotencyStore store;

	private final Supplier<List<IdempotencyStore>> records;

	private final ResponseEnvelope envelope;

	/**
	 * Creates an administration.
	 * @param store the store of claims
	 * @param records supplies the stores of the records that are committed with their
	 * work
	 * @param encryption protects the stored responses, which contain where a run comes
	 * from
	 */
	public KeyAdministration(IdempotencyStore store, Supplier<List<IdempotencyStore>> records,
			PayloadEncryption encryption) {
		this.envelope = new ResponseEnvelope(encryption);
		this.store = store;
		this.records = records;
	}

	/**
	 * Looks a key up. While the store in front of a database is unreachable, the
	 * database's record is returned alone. The record of a running transaction is not
	 * visible.
	 * @param key the key
	 * @return the key, or {@code null} if it is absent
	 */
	public @Nullable FoundKey find(IdempotencyKey key) {
		StoredKey inDatabase = findInDatabases(key);
		try {
			return found(key, inDatabase, findInFront(key));
		}
		catch (IdempotencyStoreUnavailableException ex) {
			if (inDatabase == null) {
				throw ex;
			}
			return new FoundKey(KeyState.of(this.envelope, key, inDatabase), null, false);
		}
	}

	/**
	 * Lists the keys whose work is running, or whose owner has died: those in the store,
	 * and the runs of this process, of which the store may not know. The steps of a run
	 * are not listed.
	 * @param here the runs of this process
	 * @param atMost how many keys to read at most
	 * @return the keys, the longest claimed first
	 */
	public RunningKeys running(List<RunningKey> here, int atMost) {
		Map<IdempotencyKey, RunningKey> running = new LinkedHashMap<>();
		PendingKeys pending = null;
		boolean answered = true;
		try {
			pending = this.store.findPending(atMost);
		}
		catch (IdempotencyStoreUnavailableException ex) {
			answered = false;
		}
		if (pending != null) {
			RunningKey.Place place = this.store.isDatabase() ? RunningKey.Place.DATABASE : RunningKey.Place.STORE;
			pending.keys()
				.forEach((key, found) -> running.put(key,
						new RunningKey(key, place, found.remaining(), RunOrigin.ofToken(found.token()), found.run())));
			running.values().removeIf((key) -> key.run() != null && key.run().step());
		}
		here.forEach((run) -> running.putIfAbsent(run.key(), run));
		List<RunningKey> oldestFirst = running.values()
			.stream()
			.sorted(Comparator.comparing(RunningKey::since, Comparator.nullsFirst(Comparator.naturalOrder())))
			.toList();
		return new RunningKeys(oldestFirst, pending != null, answered, (pending != null) ? pending.within() : null);
	}

	/**
	 * Counts the keys in the database, or in a store that can count cheaply.
	 * @param atMost how many keys to read at most in each of them
	 * @return the numbers of each place that can count; the store comes first
	 */
	public List<KeyCount> count(int atMost) {
		return Stream.concat(Stream.of(this.store), this.records.get().stream())
			.map((place) -> place.count(atMost))
			.filter(Objects::nonNull)
			.toList();
	}

	/**
	 * Calls the store once.
	 * @throws IdempotencyStoreException if it is unreachable or unusable
	 */
	public void checkStore() {
		StoredKey unused = this.store.find(PROBE);
	}

	/**
	 * Calls each database that decides on keys once.
	 * @return how many there are besides the store
	 * @throws IdempotencyStoreException if one of them is unreachable or unusable
	 */
	public int checkDatabases() {
		List<IdempotencyStore> databases = this.records.get();
		databases.forEach((database) -> {
			StoredKey unused = database.find(PROBE);
		});
		return databases.size();
	}

	/**
	 * Releases a claim. If its owner is alive, a retry runs beside it under
	 * {@link Guarantee#LEASE}; under {@link Guarantee#TRANSACTION} the database still
	 * refuses the retry.
	 * @param key the key
	 * @param since the claim to release, by its time, or {@code null} for any
	 * @return the result; refused unless the key is pending in the store or the database
	 */
	public KeyChange release(IdempotencyKey key, @Nullable Instant since) {
		return change(key, StoredKey.State.PENDING, since);
	}

	/**
	 * Deletes a completed key, so that its next request runs the work again. The
	 * database's record is deleted first: a request that reaches the store in between
	 * gets the old response and does not write it back, and after a crash in between the
	 * key is still completed.
	 * @param key the key
	 * @param since the run to forget, by the time of its claim, or {@code null} for any
	 * @return the result; refused while a claim holds the key
	 */
	public KeyChange forget(IdempotencyKey key, @Nullable Instant since) {
		KeyChange change = change(key, StoredKey.State.COMPLETED, since);
		FoundKey now = change.now();
		boolean completedAgain = change.outcome() == KeyChange.Outcome.DONE && now != null
				&& now.deciding().state() == StoredKey.State.COMPLETED;
		return completedAgain ? new KeyChange(KeyChange.Outcome.CONTENDED, change.before(), now) : change;
	}

	/**
	 * Reads every place first, so that nothing is changed while one of them is
	 * unreachable: its key would outlive the others.
	 */
	private KeyChange change(IdempotencyKey key, StoredKey.State state, @Nullable Instant since) {
		FoundKey before = found(key, findInDatabases(key), findInFront(key));
		if (before == null) {
			return new KeyChange(KeyChange.Outcome.ABSENT, null, null);
		}
		KeyState claim = before.claim();
		KeyState run = (state == StoredKey.State.PENDING && claim != null) ? claim : before.deciding();
		if (!run.isOf(since)) {
			return new KeyChange(KeyChange.Outcome.OTHER_RUN, before, before);
		}
		if ((state == StoredKey.State.PENDING) == (claim == null)) {
			return new KeyChange(KeyChange.Outcome.REFUSED, before, before);
		}
		boolean done = true;
		for (IdempotencyStore database : databases()) {
			done &= settle(database, key, state, since);
		}
		if (!this.store.isDatabase()) {
			done &= settle(this.store, key, state, since);
		}
		return new KeyChange(done ? KeyChange.Outcome.DONE : KeyChange.Outcome.CONTENDED, before, find(key));
	}

	/**
	 * Settles a key with the token that has it in this place: the tokens of two places
	 * may differ. The store compares the token, so that the key of another run stays.
	 * @return {@code false} if a request has changed the key: a claim made meanwhile may
	 * have read a record before it was forgotten, and write it back
	 */
	private boolean settle(IdempotencyStore place, IdempotencyKey key, StoredKey.State state, @Nullable Instant since) {
		StoredKey found = place.find(key);
		if (found == null || found.state() != state) {
			return found == null || found.state() == StoredKey.State.COMPLETED;
		}
		if (since != null && !KeyState.of(this.envelope, key, found).isOf(since)) {
			return false;
		}
		if (state == StoredKey.State.PENDING) {
			return place.release(key, found.token());
		}
		// First: the next run must derive other keys.
		forgetCompleted(place, DerivationRoot.recordOf(key));
		return place.forget(key, found.token());
	}

	private static void forgetCompleted(IdempotencyStore place, IdempotencyKey key) {
		StoredKey found = place.find(key);
		if (found != null && found.state() == StoredKey.State.COMPLETED) {
			boolean unused = place.forget(key, found.token());
		}
	}

	private @Nullable StoredKey findInDatabases(IdempotencyKey key) {
		return databases().stream()
			.map((database) -> database.find(key))
			.filter(Objects::nonNull)
			.findFirst()
			.orElse(null);
	}

	private @Nullable StoredKey findInFront(IdempotencyKey key) {
		return this.store.isDatabase() ? null : this.store.find(key);
	}

	private @Nullable FoundKey found(IdempotencyKey key, @Nullable StoredKey inDatabase, @Nullable StoredKey inStore) {
		if (inDatabase == null && inStore == null) {
			return null;
		}
		return new FoundKey((inDatabase != null) ? KeyState.of(this.envelope, key, inDatabase) : null,
				(inStore != null) ? KeyState.of(this.envelope, key, inStore) : null, true);
	}

	private List<IdempotencyStore> databases() {
		List<IdempotencyStore> databases = new ArrayList<>(this.records.get());
		if (this.store.isDatabase()) {
			databases.add(0, this.store);
		}
		return databases;
	}

	/**
	 * A key as found by an operator: in the database, in the store in front of it, or in
	 * both. The database decides.
	 *
	 * @param inDatabase the committed record in the database, or {@code null}
	 * @param inStore the key in the store outside of the database, or {@code null}
	 * @param storeAnswered {@code false} if that store was unreachable, so that it may
	 * have the key
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
		 * Returns the claim that holds the key anywhere, even if the database has its
		 * response already.
		 */
		private @Nullable KeyState claim() {
			return (this.inDatabase != null && this.inDatabase.isPending()) ? this.inDatabase
					: (this.inStore != null && this.inStore.isPending()) ? this.inStore : null;
		}

	}

	/**
	 * The keys whose work is running.
	 *
	 * @param keys the keys, the longest claimed first
	 * @param ofAllInstances whether the store has listed keys, and not only this process
	 * its own
	 * @param storeAnswered {@code false} if the store was unreachable
	 * @param within {@code null} if the store has listed all of its keys; else how long
	 * the leases of the listed keys last at most, while others may last longer
	 */
	public record RunningKeys(List<RunningKey> keys, boolean ofAllInstances, boolean storeAnswered,
			@Nullable Duration within) {
	}

	/**
	 * A key whose work is running, or whose owner has died.
	 *
	 * @param key the key
	 * @param place where it was found
	 * @param remaining how long the lease lasts from now on; {@code null} if only this
	 * process knows of the run
	 * @param origin where the run comes from, or {@code null} if it is unknown
	 * @param run what runs, or {@code null} if it is unknown
	 */
	public record RunningKey(IdempotencyKey key, Place place, @Nullable Duration remaining, @Nullable RunOrigin origin,
			@Nullable RunDescription run) {

		private @Nullable Instant since() {
			return (this.origin != null) ? this.origin.since() : null;
		}

		/**
		 * Where a running key was found.
		 */
		public enum Place {

			/**
			 * In the database.
			 */
			DATABASE,

			/**
			 * In the store outside of the database.
			 */
			STORE,

			/**
			 * In this process only: its transaction is not committed, or the store has
			 * not granted the claim.
			 */
			INSTANCE

		}

	}

	/**
	 * The state of a key in one place, for operators.
	 *
	 * @param state the state
	 * @param remaining how long the lease or the retention lasts from now on
	 * @param origin where the run comes from, or {@code null} if it is unknown
	 * @param replayable whether a completed key has a response that can be read
	 * @param run what runs under a pending key, or {@code null} if it is unknown
	 */
	public record KeyState(StoredKey.State state, Duration remaining, @Nullable RunOrigin origin, boolean replayable,
			@Nullable RunDescription run) {

		/**
		 * Reads the origin of a completed key from its response: another claimant may
		 * have copied it from the database.
		 */
		static KeyState of(ResponseEnvelope envelope, IdempotencyKey key, StoredKey stored) {
			StoredResponse response = stored.response();
			if (response == null) {
				return new KeyState(stored.state(), stored.remaining(), RunOrigin.ofToken(stored.token()), false,
						stored.run());
			}
			try {
				return new KeyState(stored.state(), stored.remaining(), ResponseEnvelope.origin(key, response),
						envelope.decrypt(key, response).isKept(), null);
			}
			catch (IdempotencyStoreException ex) {
				// A damaged response is one that an operator wants to forget.
				return new KeyState(stored.state(), stored.remaining(), RunOrigin.ofToken(stored.token()), false, null);
			}
		}

		private boolean isPending() {
			return this.state == StoredKey.State.PENDING;
		}

		private boolean isOf(@Nullable Instant since) {
			return since == null || (this.origin != null && this.origin.since().equals(since));
		}

	}

	/**
	 * The result of a change that an operator has requested.
	 *
	 * @param outcome what was done
	 * @param before the key before; {@code null} if it was absent
	 * @param now the key afterwards; {@code null} if it is absent
	 */
	public record KeyChange(Outcome outcome, @Nullable FoundKey before, @Nullable FoundKey now) {

		/**
		 * What was done.
		 */
		public enum Outcome {

			/**
			 * The key was changed. A request may have claimed it again since.
			 */
			DONE,

			/**
			 * There was no such key.
			 */
			ABSENT,

			/**
			 * The key was in the other state and is unchanged.
			 */
			REFUSED,

			/**
			 * Another run has the key, which is unchanged.
			 */
			OTHER_RUN,

			/**
			 * A request has changed the key at the same time.
			 */
			CONTENDED

		}

	}

}
