package dev.idempotent.sample.crash;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * The keys of a run: those in use, and some of those that were answered.
 */
final class KeyRing {

	private static final int REMEMBERED = 500;

	private final String prefix;

	private final int limit;

	private final List<KeyHistory> current = new ArrayList<>();

	private final List<KeyHistory> answered = new ArrayList<>();

	private int issued;

	KeyRing(String prefix, int limit) {
		this.prefix = prefix;
		this.limit = limit;
	}

	/**
	 * The prefix of all keys.
	 */
	String prefix() {
		return this.prefix;
	}

	/**
	 * A fresh key, unless there are no more.
	 */
	synchronized @Nullable KeyHistory next() {
		if (this.issued == this.limit) {
			return null;
		}
		this.issued++;
		KeyHistory key = new KeyHistory(this.prefix + this.issued);
		this.current.add(key);
		return key;
	}

	synchronized int issued() {
		return this.issued;
	}

	/**
	 * Remembers an answered key, perhaps in place of another.
	 */
	synchronized void answered(KeyHistory key, Random random) {
		if (this.answered.size() < REMEMBERED) {
			this.answered.add(key);
		}
		else {
			this.answered.set(random.nextInt(REMEMBERED), key);
		}
	}

	/**
	 * One of the keys that were answered before, if there is one.
	 */
	synchronized @Nullable KeyHistory old(Random random) {
		return this.answered.isEmpty() ? null : this.answered.get(random.nextInt(this.answered.size()));
	}

	/**
	 * Removes a key with a broken promise, which is not requested again.
	 */
	synchronized void forget(KeyHistory key) {
		this.answered.remove(key);
	}

	/**
	 * Returns the keys to check: those in use, and those that may have been requested
	 * again.
	 */
	synchronized List<KeyHistory> retire() {
		Set<KeyHistory> all = new LinkedHashSet<>(this.current);
		all.addAll(this.answered);
		this.current.clear();
		return List.copyOf(all);
	}

}
