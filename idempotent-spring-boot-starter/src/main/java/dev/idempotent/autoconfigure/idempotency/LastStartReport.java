package dev.idempotent.autoconfigure.idempotency;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Collectors;

import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.work.OutageLog;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.util.ClassUtils;

/**
 * Warns once after startup if keys of the last release are no longer found, because the
 * namespace, the store or the name of an operation has changed. A name that has gone is
 * reported once: instances of two versions that are started in turn do not repeat it.
 */
final class LastStartReport implements ApplicationListener<ContextRefreshedEvent> {

	private static final Logger logger = LoggerFactory.getLogger(LastStartReport.class);

	private static final String APPLICATION = "application";

	private static final String STORE = "store";

	private static final String OPERATION = "operation ";

	/**
	 * Replaces the name of an operation once it was reported.
	 */
	private static final String GONE = "-";

	/**
	 * By name, because their technologies are optional.
	 */
	private static final Map<String, String> STORES = Map.of("dev.idempotent.idempotency.redis.RedisIdempotencyStore",
			"Redis", "dev.idempotent.idempotency.jdbc.JdbcIdempotencyStore", "the database");

	private final ApplicationContext context;

	private final StartupReport report;

	private final String namespace;

	private final String application;

	private final ObjectProvider<IdempotencyStore> stores;

	private final ObjectProvider<DeploymentFacts> facts;

	LastStartReport(ApplicationContext context, StartupReport report, String namespace, String application,
			ObjectProvider<IdempotencyStore> stores, ObjectProvider<DeploymentFacts> facts) {
		this.context = context;
		this.report = report;
		this.namespace = namespace;
		this.application = application;
		this.stores = stores;
		this.facts = facts;
	}

	@Override
	public void onApplicationEvent(ContextRefreshedEvent event) {
		if (event.getApplicationContext() == this.context) {
			this.report.operationNames().filter((operations) -> storesKeysHere()).ifPresent(this::compare);
		}
	}

	/**
	 * Whether keys are in the database or in Redis, rather than only in a store of the
	 * application.
	 */
	private boolean storesKeysHere() {
		return this.report.usesTransactions() || STORES.containsValue(store());
	}

	/**
	 * Compares with the database, or with Redis if the database has no such table.
	 */
	private void compare(Set<String> operations) {
		Iterator<DeploymentFacts> places = this.facts.orderedStream().iterator();
		boolean done = false;
		while (!done && places.hasNext()) {
			DeploymentFacts place = places.next();
			try {
				compare(operations, place);
				done = true;
			}
			catch (RuntimeException ex) {
				boolean missing = place.isMissing().test(ex);
				done = !missing;
				if (done || !places.hasNext()) {
					logger.warn(
							"Idempotency: the last start could not be compared with this one, so a changed name of "
									+ "an operation, namespace or store is not reported: {}{}",
							OutageLog.reason(ex), missing ? ". " + place.howToProvide() : "");
					logger.debug("The stack trace of the failure above", ex);
				}
			}
		}
	}

	private void compare(Set<String> operations, DeploymentFacts place) {
		Map<String, Map<String, String>> all = place.reader().get();
		Map<String, String> last = all.getOrDefault(this.namespace, Map.of());
		Map<String, String> now = current(operations);
		List<String> changes = new ArrayList<>(last.isEmpty() ? changedNamespace(all) : List.of());
		Map<String, String> replaced = new HashMap<>();
		String store = last.get(STORE);
		if (store != null && !store.equals(now.get(STORE))) {
			changes.add("keys under LEASE were stored in %s and are now stored in %s".formatted(store, now.get(STORE)));
			replaced.put(STORE, now.getOrDefault(STORE, ""));
		}
		Set<String> gone = new TreeSet<>();
		last.forEach((attribute, name) -> {
			if (attribute.startsWith(OPERATION) && !name.equals(GONE) && !now.containsKey(attribute)) {
				gone.add(name);
				replaced.put(attribute, GONE);
			}
		});
		if (!gone.isEmpty()) {
			changes.add("there are no operations with the names " + gone + " any more");
		}
		if (!changes.isEmpty()) {
			warn(String.join("; ", changes));
		}
		replaced.forEach((attribute, content) -> place.replacing()
			.replace(this.namespace, attribute, last.getOrDefault(attribute, ""), content));
		now.keySet()
			.stream()
			.filter((attribute) -> !last.containsKey(attribute))
			.forEach((attribute) -> place.adding().add(this.namespace, attribute, now.getOrDefault(attribute, "")));
	}

	private Map<String, String> current(Set<String> operations) {
		Map<String, String> now = new HashMap<>();
		if (!this.application.isBlank()) {
			now.put(APPLICATION, this.application);
		}
		now.put(STORE, store());
		operations.forEach(
				(name) -> now.put(OPERATION + UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8)), name));
		return now;
	}

	private String store() {
		@Nullable IdempotencyStore store = this.stores.getIfAvailable();
		String type = (store != null) ? ClassUtils.getUserClass(store).getName() : "none";
		return STORES.getOrDefault(type, type);
	}

	private List<String> changedNamespace(Map<String, Map<String, String>> all) {
		String others = all.entrySet()
			.stream()
			.filter((other) -> this.application.equals(other.getValue().get(APPLICATION)))
			.map((other) -> "'" + other.getKey() + "'")
			.sorted()
			.collect(Collectors.joining(", "));
		return others.isEmpty() ? List.of() : List
			.of("the namespace of '%s' was %s and is now '%s'".formatted(this.application, others, this.namespace));
	}

	private static void warn(String changes) {
		logger.warn("Idempotency: since the last start, {}. Keys of the last release are forgotten, because they are "
				+ "stored under the old names: retries of earlier requests would run again. If clients may still "
				+ "retry, restore the old name (@Idempotent(name = ...), idempotent.namespace or idempotent.store), "
				+ "and change it when the retention of these keys has passed", changes);
	}

}
