package dev.idempotent.inbox;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The entries that a worker was brought and is not done with.
 */
final class Hand {

	private final Set<String> ids = ConcurrentHashMap.newKeySet();

	void take(List<Entry> entries) {
		entries.forEach((entry) -> this.ids.add(entry.id()));
	}

	void putDown(Entry entry) {
		this.ids.remove(entry.id());
	}

	void putDownAll() {
		this.ids.clear();
	}

	Set<String> ids() {
		return Set.copyOf(this.ids);
	}

}
