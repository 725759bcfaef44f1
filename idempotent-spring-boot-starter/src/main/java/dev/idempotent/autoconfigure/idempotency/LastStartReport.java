package dev.idempotent.autoconfigure.idempotency;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;

import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.saga.method.SagaMethods;
import dev.idempotent.concurrent.OutageLog;
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
 * namespace, the store or the name of an operation or saga has changed, or if another
 * application has the same namespace. A name is reported once: instances of two versions
 * that are started in turn do not repeat it.
 */
final class LastStartReport implements ApplicationListener<ContextRefreshedEvent> {

	private static final Logger logger = LoggerFactory.getLogger(LastStartReport.class);

	/**
	 * The namespace of attributes that belong to an application, whatever its namespace.
	 */
	private static final String ALL = "";

	private static final String NAMESPACE = "namespace ";

	private static final String APPLICATION = "application ";

	private static final String STORE = "store";

	private static final String OPERATION = "operation ";

	private static final String SAGA = "saga ";

	/**
	 * Replaces the name of an operation or saga once it was reported.
	 */
	private static final String GONE = "-";

	/**
	 * By name, because their technologies are optional.
	 */
	private static final Map<String, String> STORES = Map.of("dev.idempotent.idempotency.redis.RedisIdempotencyStore",
			"Redis", "dev.idempotent.idempotency.jdbc.JdbcIdempotencyStore", "the database");

	private final ApplicationContext context;

	private final StartupReport report;

	private final ObjectProvider<SagaMethods> sagas;

	private final String namespace;

	private final String application;

	private final ObjectProvider<IdempotencyStore> stores;

	private final ObjectProvider<DeploymentFacts> facts;

	private boolean told;

	LastStartReport(ApplicationContext context, StartupReport report, ObjectProvider<SagaMethods> sagas,
			String namespace, String application, ObjectProvider<IdempotencyStore> stores,
			ObjectProvider<DeploymentFacts> facts) {
		this.context = context;
		this.report = report;
		this.sagas = sagas;
		this.namespace = namespace;
		this.application = application;
		this.stores = stores;
		this.facts = facts;
	}

	@Override
	public void onApplicationEvent(ContextRefreshedEvent event) {
		if (event.getApplicationContext() == this.context) {
			Map<String, String> now = current();
			if (!now.isEmpty()) {
				if (!this.application.isBlank()) {
					now.put(APPLICATION + idOf(this.application), this.application);
				}
				compare(now);
			}
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
	private void compare(Map<String, String> now) {
		Iterator<DeploymentFacts> places = this.facts.orderedStream().iterator();
		boolean done = false;
		while (!done && places.hasNext()) {
			DeploymentFacts place = places.next();
			try {
				compare(now, place);
				done = true;
			}
			catch (RuntimeException ex) {
				boolean missing = place.isMissing().test(ex);
				done = !missing;
				if (done || !places.hasNext()) {
					logger.warn(
							"Idempotency: the last start could not be compared with this one, so a changed name of "
									+ "an operation or saga, namespace or store is not reported: {}{}",
							OutageLog.reason(ex), missing ? ". " + place.howToProvide() : "");
					logger.debug("The stack trace of the failure above", ex);
				}
			}
		}
		places.forEachRemaining((place) -> compareApplication(now, place));
	}

	/**
	 * Another application can share the store, and have a database of its own.
	 */
	private void compareApplication(Map<String, String> now, DeploymentFacts place) {
		String attribute = APPLICATION + idOf(this.application);
		try {
			Map<String, String> last = place.reader().get().getOrDefault(this.namespace, Map.of());
			if (now.containsKey(attribute) && !last.containsKey(attribute)) {
				warnOfAnotherApplication(last);
				place.adding().add(this.namespace, attribute, this.application);
			}
		}
		catch (RuntimeException ex) {
			logger.debug("The applications that use the store could not be compared", ex);
		}
	}

	private void compare(Map<String, String> now, DeploymentFacts place) {
		Map<String, Map<String, String>> all = place.reader().get();
		Map<String, String> last = all.getOrDefault(this.namespace, Map.of());
		List<String> changes = new ArrayList<>();
		Map<String, String> replaced = new HashMap<>();
		compareNamespace(all.getOrDefault(ALL, Map.of()), changes, place);
		String store = last.get(STORE);
		if (store != null && now.containsKey(STORE) && !store.equals(now.get(STORE))) {
			changes.add("keys under LEASE were stored in %s and are now stored in %s".formatted(store, now.get(STORE)));
			replaced.put(STORE, now.getOrDefault(STORE, ""));
		}
		gone(OPERATION, last, now, replaced)
			.ifPresent((names) -> changes.add("there are no operations with the names " + names + " any more"));
		gone(SAGA, last, now, replaced).ifPresent((names) -> changes.add("there are no sagas with the names " + names
				+ " any more, so this version continues none that is open"));
		if (!changes.isEmpty()) {
			warn(String.join("; ", changes));
		}
		warnOfAnotherApplication(last);
		replaced.forEach((attribute, content) -> place.replacing()
			.replace(this.namespace, attribute, last.getOrDefault(attribute, ""), content));
		now.keySet()
			.stream()
			.filter((attribute) -> !last.containsKey(attribute))
			.forEach((attribute) -> place.adding().add(this.namespace, attribute, now.getOrDefault(attribute, "")));
	}

	/**
	 * Each change is reported, also one back to an earlier namespace: the keys of the
	 * last start are not found.
	 */
	private void compareNamespace(Map<String, String> applications, List<String> changes, DeploymentFacts place) {
		if (this.application.isBlank()) {
			return;
		}
		String attribute = NAMESPACE + idOf(this.application);
		String last = applications.get(attribute);
		if (last == null) {
			place.adding().add(ALL, attribute, this.namespace);
		}
		else if (!last.equals(this.namespace)) {
			changes.add(
					"the namespace of '%s' was '%s' and is now '%s'".formatted(this.application, last, this.namespace));
			place.replacing().replace(ALL, attribute, last, this.namespace);
		}
	}

	private static Optional<Set<String>> gone(String kind, Map<String, String> last, Map<String, String> now,
			Map<String, String> replaced) {
		Set<String> gone = new TreeSet<>();
		last.forEach((attribute, name) -> {
			if (attribute.startsWith(kind) && !name.equals(GONE) && !now.containsKey(attribute)) {
				gone.add(name);
				replaced.put(attribute, GONE);
			}
		});
		return gone.isEmpty() ? Optional.empty() : Optional.of(gone);
	}

	/**
	 * A renamed application cannot be distinguished from another one.
	 */
	private void warnOfAnotherApplication(Map<String, String> last) {
		if (this.told) {
			return;
		}
		Set<String> others = new TreeSet<>();
		last.forEach((attribute, name) -> {
			if (attribute.startsWith(APPLICATION)) {
				others.add(name);
			}
		});
		if (!this.application.isBlank() && !others.isEmpty() && !others.contains(this.application)) {
			logger
				.warn("Idempotency: the namespace '{}' was used by {} and is now used by '{}'. If these are different "
						+ "applications, each replays the responses of the other: give them different values of "
						+ "idempotent.namespace. If '{}' is a new name of the application, or both share their keys on "
						+ "purpose, nothing is to be done", this.namespace, others, this.application, this.application);
		}
	}

	/**
	 * Returns what this start would leave behind if it were the last one; empty if the
	 * application stores no keys here and has no saga.
	 */
	private Map<String, String> current() {
		Map<String, String> now = new HashMap<>();
		this.report.operationNames().filter((operations) -> storesKeysHere()).ifPresent((operations) -> {
			now.put(STORE, store());
			operations.forEach((name) -> now.put(OPERATION + idOf(name), name));
		});
		this.sagas.ifAvailable(
				(methods) -> methods.definitions().forEach((saga) -> now.put(SAGA + idOf(saga.name()), saga.name())));
		return now;
	}

	private static String idOf(String name) {
		return UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8)).toString();
	}

	private String store() {
		@Nullable IdempotencyStore store = this.stores.getIfAvailable();
		String type = (store != null) ? ClassUtils.getUserClass(store).getName() : "none";
		return STORES.getOrDefault(type, type);
	}

	private static void warn(String changes) {
		logger.warn("Idempotency: since the last start, {}. Keys of the last release are forgotten, because they are "
				+ "stored under the old names: retries of earlier requests would run again. If clients may still "
				+ "retry, restore the old name (@Idempotent(name = ...), @Saga(name = ...), idempotent.namespace or "
				+ "idempotent.store), " + "and change it when the retention of these keys has passed", changes);
	}

}
