package dev.idempotent.saga.engine;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * What sagas affect: rows of the database that their transactions change, and services
 * that recognize a key.
 */
final class Services {

	private final Map<String, Integer> rows = new HashMap<>();

	private final Map<String, Set<String>> done = new HashMap<>();

	private final Map<String, Set<String>> undone = new HashMap<>();

	private final List<String> log = new ArrayList<>();

	/**
	 * Changes a row in the current transaction.
	 */
	int change(String row, int by) {
		if (!TransactionSynchronizationManager.isActualTransactionActive()) {
			throw new IllegalStateException("There is no transaction");
		}
		this.rows.merge(row, by, Integer::sum);
		this.log.add(row + ((by > 0) ? "+" : "-"));
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
			@Override
			public void afterCompletion(int status) {
				if (status != STATUS_COMMITTED) {
					Services.this.rows.merge(row, -by, Integer::sum);
				}
			}
		});
		return 7;
	}

	/**
	 * Does something once per key, unless the key was cancelled.
	 */
	String act(String service, String key) {
		if (cancelled(service).contains(key)) {
			throw new dev.idempotent.saga.StepRefusedException("cancelled");
		}
		this.done.computeIfAbsent(service, (name) -> new HashSet<>()).add(key);
		this.log.add(service + "+");
		return "result of " + service;
	}

	/**
	 * Undoes something once per key.
	 */
	void undo(String service, String key) {
		this.undone.computeIfAbsent(service, (name) -> new HashSet<>()).add(key);
		this.log.add(service + "-");
	}

	/**
	 * Undoes what was done under a key, and refuses it from now on.
	 */
	void cancel(String service, String key) {
		if (cancelled(service).add(key) && effects(service).remove(key)) {
			this.log.add(service + "-");
		}
	}

	/**
	 * The net number of effects.
	 */
	int net(String service) {
		return this.rows.getOrDefault(service, 0) + effects(service).size()
				- this.undone.getOrDefault(service, Set.of()).size();
	}

	List<String> log() {
		return this.log;
	}

	private Set<String> effects(String service) {
		return this.done.computeIfAbsent(service, (name) -> new HashSet<>());
	}

	private Set<String> cancelled(String service) {
		return this.done.computeIfAbsent("cancelled:" + service, (name) -> new HashSet<>());
	}

}
