package dev.idempotent.autoconfigure.actuate;

import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

import dev.idempotent.autoconfigure.idempotency.IdempotencyAutoConfiguration.KeySettings;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyKey.Kind;
import dev.idempotent.idempotency.IdempotencyStore.KeyCount;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.RunDescription;
import dev.idempotent.idempotency.RunOrigin;
import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.idempotency.engine.IdempotencyEngine;
import dev.idempotent.idempotency.engine.KeyAdministration;
import dev.idempotent.idempotency.engine.KeyAdministration.FoundKey;
import dev.idempotent.idempotency.engine.KeyAdministration.KeyChange;
import dev.idempotent.idempotency.engine.KeyAdministration.KeyState;
import dev.idempotent.idempotency.engine.KeyAdministration.RunningKey;
import dev.idempotent.idempotency.engine.KeyAdministration.RunningKeys;
import dev.idempotent.idempotency.operation.KeyExpression;
import dev.idempotent.idempotency.web.PrincipalScopeResolver;
import dev.idempotent.token.OneTimeTokens;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.context.ApplicationEventPublisher;

/**
 * The actuator's endpoint {@code idempotency}. Shows neither keys nor responses. The path
 * and the HTTP method alone decide which operation runs.
 */
@WebEndpoint(id = "idempotency")
@RegisterReflectionForBinding({ IdempotencyEndpoint.Overview.class, IdempotencyEndpoint.Changed.class,
		IdempotencyEndpoint.KeyAnswer.class, IdempotencyEndpoint.RunningAnswer.class })
final class IdempotencyEndpoint extends OperatorEndpoint {

	private static final Logger logger = LoggerFactory.getLogger(IdempotencyEndpoint.class);

	/**
	 * How many keys are counted.
	 */
	private static final int MAX_COUNT = 10_000;

	/**
	 * How many keys are read for a list of running ones.
	 */
	private static final int MAX_READ = 10_000;

	/**
	 * The place of the list among the keys, none of which has such a digest.
	 */
	private static final String RUNNING = "running";

	private static final int NOT_IMPLEMENTED = 501;

	/**
	 * Steps are found by the digest in the log: only their run has their key. Sagas have
	 * an endpoint of their own.
	 */
	private static final List<Kind> KINDS = Arrays.stream(Kind.values())
		.filter((kind) -> kind != Kind.STEP && kind != Kind.SAGA)
		.toList();

	private static final String AFTER_RELEASE = "The next request with this key runs the work. If the first run is "
			+ "still alive, it claims the key again within a third of its lease; with a request before that, both run "
			+ "under Guarantee.LEASE, and under Guarantee.TRANSACTION the database refuses the second while the first "
			+ "lasts";

	private final IdempotencyEngine engine;

	private final KeyAdministration keys;

	private final KeySettings settings;

	private final ApplicationEventPublisher publisher;

	IdempotencyEndpoint(IdempotencyEngine engine, KeyAdministration keys, KeySettings settings,
			ApplicationEventPublisher publisher) {
		this.engine = engine;
		this.keys = keys;
		this.settings = settings;
		this.publisher = publisher;
	}

	@ReadOperation
	WebEndpointResponse<?> overview() {
		return answer(
				() -> new Overview(this.engine.storeName(), this.engine.running(), this.engine.settlementsWaiting(),
						this.engine.oldestUnsettled().toString(), this.keys.count(MAX_COUNT)));
	}

	/**
	 * Finds a key by its digest, or lists the running ones.
	 * @param digest the digest, or {@code running}
	 * @param operation lists only runs whose operation contains this
	 * @param instance lists only runs whose instance contains this
	 * @param traceId lists only runs whose trace contains this
	 * @param limit how many runs to list
	 */
	@ReadOperation
	WebEndpointResponse<?> key(@Selector String digest, @Nullable String operation, @Nullable String instance,
			@Nullable String traceId, @Nullable String limit) {
		return answer(() -> {
			if (digest.equals(RUNNING)) {
				return running(stated("operation", operation), stated("instance", instance), stated("traceId", traceId),
						limit(limit));
			}
			return find(digest(digest));
		});
	}

	private RunningAnswer running(@Nullable String operation, @Nullable String instance, @Nullable String traceId,
			int limit) {
		RunningKeys running = this.keys.running(this.engine.announceRuns(MAX_READ), MAX_READ);
		List<RunningFacts> matching = running.keys()
			.stream()
			.map(RunningFacts::of)
			.filter((run) -> contains(run.operation(), operation))
			.filter((run) -> contains(run.instance(), instance))
			.filter((run) -> contains(run.traceId(), traceId))
			.toList();
		boolean complete = running.ofAllInstances() && running.within() == null && matching.size() <= limit;
		return new RunningAnswer(matching.stream().limit(limit).toList(), matching.size(), complete,
				meaning(running, matching.size() > limit));
	}

	private static boolean contains(@Nullable String text, @Nullable String part) {
		return part == null || (text != null && text.contains(part));
	}

	private String meaning(RunningKeys running, boolean limited) {
		String meaning = !running.storeAnswered() ? "The store did not respond: these are the runs of this instance"
				: !running.ofAllInstances() ? "The store cannot list keys: these are the runs of this instance"
						: (running.within() == null) ? "These are the claims of all instances"
								: "These are the claims of all instances whose leases end within " + running.within()
										+ "; there are too many keys to read the others";
		if (running.ofAllInstances() && this.engine.storesInDatabase()) {
			meaning += ". Under Guarantee.TRANSACTION, only the runs of this instance are known until they commit";
		}
		return limited ? meaning + ". Only the oldest are shown: set 'limit', 'operation', 'instance' or 'traceId'"
				: meaning;
	}

	/**
	 * Releases or forgets a key.
	 * @param since the run that the operator has seen; without it, any run that has the
	 * key
	 * @param note why, for the audit event
	 */
	@WriteOperation
	WebEndpointResponse<?> change(@Selector String digest, @Selector String operation, @Nullable String since,
			@Nullable String note, SecurityContext security) {
		return answer(() -> {
			requireInPath(digest, operation);
			return switch (operation) {
				case "release" -> change(digest(digest), true, since(since), note(note), security);
				case "forget" -> change(digest(digest), false, since(since), note(note), security);
				default -> throw invalid("There is no operation of this name",
						"POST /actuator/idempotency/{digest}/release or POST /actuator/idempotency/{digest}/forget");
			};
		});
	}

	/**
	 * Finds a key by what it was made of.
	 * @param kind the origin of the key
	 * @param scope the scope that a resolver of the application has returned
	 * @param principal the name of the caller, instead of a scope
	 * @param issuer the issuer of that name
	 * @param operation the name of the operation; none for a key from a header
	 * @param key the key, as the client has sent it, or as the application has derived or
	 * issued it
	 */
	@WriteOperation
	WebEndpointResponse<?> find(@Nullable String kind, @Nullable String scope, @Nullable String principal,
			@Nullable String issuer, @Nullable String operation, @Nullable String key) {
		return answer(() -> {
			Kind origin = kind(kind);
			String stated = key(origin, key);
			String owner = owner(origin, scope, principal, issuer);
			String name = operation(origin, operation);
			String namespace = this.settings.namespace();
			IdempotencyKey digested = IdempotencyKey.of(origin, namespace, owner, name,
					(origin == Kind.TOKEN) ? serialOf(stated) : stated);
			FoundKey found = this.keys.find(digested);
			if (found == null && (origin == Kind.EXPRESSION || origin == Kind.METHOD || origin == Kind.TOOL_CALL)) {
				// Expressions yield JSON: the key 4711 can be a number, or a text in
				// quotes.
				return find(IdempotencyKey.of(origin, namespace, owner, name, KeyExpression.textOf(stated)));
			}
			return answerOf(digested, found);
		});
	}

	private KeyAnswer find(IdempotencyKey key) {
		return answerOf(key, this.keys.find(key));
	}

	private KeyAnswer answerOf(IdempotencyKey key, @Nullable FoundKey found) {
		if (found == null) {
			throw absent(key);
		}
		return KeyAnswer.of(key, found);
	}

	private static Kind kind(@Nullable String kind) {
		String stated = (kind != null) ? kind.toUpperCase(Locale.ROOT) : Kind.HEADER.name();
		return KINDS.stream()
			.filter((one) -> one.name().equals(stated))
			.findFirst()
			.orElseThrow(() -> invalid("There is no such 'kind' of keys", "Set 'kind' to one of "
					+ KINDS.stream().map(Kind::name).collect(Collectors.joining(", ")) + "; it is HEADER if omitted"));
	}

	private static String key(Kind origin, @Nullable String key) {
		if (key == null || key.isEmpty()) {
			throw invalid("The request has no 'key'", "Set 'key' to the key of the request or of the method");
		}
		if (origin == Kind.HEADER && key.startsWith("\"")) {
			throw invalid("The key is in quotes", "Set 'key' to the value of the header without its quotes");
		}
		return key;
	}

	private static String owner(Kind origin, @Nullable String scope, @Nullable String principal,
			@Nullable String issuer) {
		boolean named = principal != null || issuer != null;
		if ((origin == Kind.METHOD || origin == Kind.TOKEN) && (named || scope != null)) {
			throw invalid("A key of this kind has no scope", "Omit 'scope', 'principal' and 'issuer'");
		}
		if (named && scope != null) {
			throw invalid("The request has both a 'scope' and a 'principal'",
					"Set 'principal' with the default IdempotencyScopeResolver, and 'scope' with one of the application");
		}
		if (!named) {
			return (scope != null) ? scope : "";
		}
		if (principal == null || principal.isEmpty()) {
			throw invalid("The request has an 'issuer' without a 'principal'",
					"Set 'principal' to the name of the caller, or omit 'issuer'");
		}
		return PrincipalScopeResolver.scopeOf(issuer, principal);
	}

	private static String operation(Kind origin, @Nullable String operation) {
		String stated = (operation != null) ? operation : "";
		if (origin == Kind.HEADER && !stated.isEmpty()) {
			throw invalid("A key from a header belongs to no 'operation'", "Omit 'operation', or set another 'kind'");
		}
		if (origin != Kind.HEADER && stated.isEmpty()) {
			throw invalid("The request has no 'operation'",
					"Set 'operation' to the name of the operation (the attribute 'name' of @Idempotent)");
		}
		return stated;
	}

	/**
	 * A token that is looked up may have expired, or belong to another secret by now.
	 */
	private static String serialOf(String token) {
		String serial = OneTimeTokens.serialOf(token);
		if (serial == null) {
			throw invalid("The key is not a one-time token", "Set 'key' to the token as the page contains it");
		}
		return serial;
	}

	private static @Nullable Instant since(@Nullable String since) {
		try {
			return (stated("since", since) != null) ? Instant.parse(since) : null;
		}
		catch (DateTimeParseException ex) {
			throw invalid("The parameter 'since' is not a time in ISO-8601 format",
					"Specify the 'since' of the key as the endpoint shows it, or omit it");
		}
	}

	private Changed change(IdempotencyKey key, boolean release, @Nullable Instant since, @Nullable String note,
			SecurityContext security) {
		KeyChange change = apply(key, release, since, note, security);
		FoundKey before = change.before();
		if (before == null) {
			throw absent(key);
		}
		KeyAnswer now = (change.now() != null) ? KeyAnswer.of(key, change.now()) : null;
		return switch (change.outcome()) {
			case DONE -> release ? new Changed("released", KeyAnswer.of(key, before), now, AFTER_RELEASE)
					: new Changed("forgotten", KeyAnswer.of(key, before), now, afterForget());
			case ABSENT -> throw absent(key);
			case REFUSED -> throw (release
					? conflict("The key is completed, so there is no claim to release",
							"Use POST /actuator/idempotency/{digest}/forget if its work must run again")
					: conflict("A run has claimed the key and could complete it again",
							"Wait until the lease ends, or use POST /actuator/idempotency/{digest}/release first if the "
									+ "process of the run has died"));
			case OTHER_RUN -> throw conflict("Another run has the key by now", "Look the key up again, and repeat the "
					+ "request with the 'since' of that run if it is still needed");
			case CONTENDED -> throw conflict("A request has changed the key at the same time",
					"Look the key up again, and repeat the operation if it is still needed");
		};
	}

	private String afterForget() {
		String again = "The next request with this key runs the work again: a retry of a payment pays again";
		Duration ttl = this.settings.replayCacheTtl();
		return (ttl != null) ? again + ". Other instances may still replay the old response for up to " + ttl
				+ " (idempotent.replay-cache.ttl)" : again;
	}

	private KeyChange apply(IdempotencyKey key, boolean release, @Nullable Instant since, @Nullable String note,
			SecurityContext security) {
		try {
			KeyChange change = release ? this.keys.release(key, since) : this.keys.forget(key, since);
			if (change.outcome() == KeyChange.Outcome.DONE || change.outcome() == KeyChange.Outcome.CONTENDED) {
				record(key, release, note, change.before(), change.outcome().name(), security);
			}
			return change;
		}
		catch (IdempotencyStoreException | UnsupportedOperationException ex) {
			record(key, release, note, null, UNKNOWN, security);
			throw ex;
		}
	}

	/**
	 * Publishes an audit event, and logs the change without the operator's note.
	 */
	private void record(IdempotencyKey key, boolean release, @Nullable String note, @Nullable FoundKey before,
			String outcome, SecurityContext security) {
		Map<String, Object> data = new LinkedHashMap<>();
		if (before != null) {
			KeyDetails.of(before.deciding()).describe(data);
		}
		logger.info("An operator has requested to {} the key {} {}: {}", release ? "release" : "forget", key, data,
				outcome);
		data.put("digest", key.digest());
		if (note != null) {
			data.put("note", note);
		}
		data.put("outcome", outcome);
		audit(this.publisher, security, release ? "IDEMPOTENCY_KEY_RELEASED" : "IDEMPOTENCY_KEY_FORGOTTEN", data);
	}

	private static IdempotencyKey digest(String digest) {
		return digest(digest, "digest of a key", "Take it from the log, or from POST /actuator/idempotency");
	}

	private Refusal absent(IdempotencyKey key) {
		return absent(
				"There is no key with the digest " + key.digest() + " in the namespace '" + this.settings.namespace()
						+ "'",
				"Check kind, scope, operation, and whether the application has its own IdempotencyScopeResolver. "
						+ "A key is absent before its first request, after it was released or forgotten, and after its "
						+ "retention; under Guarantee.TRANSACTION without another store also while its work runs");
	}

	@Override
	@Nullable Refusal refusal(RuntimeException failure) {
		if (failure instanceof UnsupportedOperationException) {
			return new Refusal(NOT_IMPLEMENTED, String.valueOf(failure.getMessage()),
					"Implement IdempotencyStore.find and forget; a store that wraps another one has to forward them");
		}
		if (failure instanceof IdempotencyStoreUnavailableException) {
			return new Refusal(WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE,
					"The store or the database did not respond",
					"Repeat the request; an operation that has already been done answers 404");
		}
		return (failure instanceof IdempotencyStoreException)
				? new Refusal(WebEndpointResponse.STATUS_INTERNAL_SERVER_ERROR, String.valueOf(failure.getMessage()),
						"Correct the store, then repeat the request")
				: null;
	}

	/**
	 * The state of an instance and of its store.
	 *
	 * @param store the name of the store
	 * @param running how many runs this instance has in progress
	 * @param waiting how many keys of this instance wait for the store, to be completed
	 * or released
	 * @param oldestUnsettledAge the age of the oldest of both, in ISO-8601 format
	 * @param counts the numbers of keys, the same for all instances; empty if the store
	 * cannot count
	 */
	record Overview(String store, int running, int waiting, String oldestUnsettledAge, List<KeyCount> counts) {
	}

	/**
	 * The answer to a change.
	 *
	 * @param outcome {@code released} or {@code forgotten}
	 * @param before the key before
	 * @param now the key afterwards, or {@code null} if it is absent
	 * @param consequence what requests with this key get from now on
	 */
	record Changed(String outcome, KeyAnswer before, @Nullable KeyAnswer now, String consequence) {
	}

	/**
	 * The answer to a request for a key. Contains neither the key nor its response.
	 *
	 * @param digest the digest of the key
	 * @param place the place that decides: {@code database} or {@code store}
	 * @param key the key in that place
	 * @param store the key in the store in front of the database, if it differs
	 * @param meaning what requests with this key get
	 */
	record KeyAnswer(String digest, String place, KeyDetails key, @Nullable KeyDetails store, String meaning) {

		static KeyAnswer of(IdempotencyKey key, FoundKey found) {
			KeyState inStore = (found.inDatabase() != null) ? found.inStore() : null;
			boolean differs = inStore != null && inStore.state() != found.deciding().state();
			return new KeyAnswer(key.digest(), (found.inDatabase() != null) ? "database" : "store",
					KeyDetails.of(found.deciding()), (differs && inStore != null) ? KeyDetails.of(inStore) : null,
					meaning(found, differs));
		}

		private static String meaning(FoundKey found, boolean differs) {
			if (!found.storeAnswered()) {
				return "The work is done. The store in front of the database did not respond: it may have a claim on the key";
			}
			if (differs) {
				return "The work is done. The claim in the store ends with its lease; requests then get the stored response";
			}
			if (found.deciding().state() == StoredKey.State.PENDING) {
				return "A run has claimed the key. While its process lives, it renews the lease; if it died, the key is free "
						+ "when the remaining time has passed";
			}
			return found.deciding().replayable() ? "The work is done: retries get the stored response"
					: "The work is done, but its response was not kept or cannot be read: retries get an error";
		}

	}

	/**
	 * The answer to a request for the running keys.
	 *
	 * @param running the oldest runs, the longest claimed first
	 * @param number how many runs match
	 * @param complete whether these are all of them
	 * @param meaning what is listed
	 */
	record RunningAnswer(List<RunningFacts> running, int number, boolean complete, String meaning) {
	}

	/**
	 * What is known of a run.
	 *
	 * @param digest the digest of its key
	 * @param operation the name of the operation, or {@code null} if it is unknown
	 * @param instance the process that has claimed the key, or {@code null} if it is
	 * unknown
	 * @param since when it claimed the key, in ISO-8601 format, or {@code null} if it is
	 * unknown
	 * @param remaining how long the lease lasts from now on, in ISO-8601 format;
	 * {@code null} in the place {@code instance}
	 * @param guarantee the guarantee of the run, or {@code null} if it is unknown
	 * @param traceId the trace of the run, or {@code null} without one
	 * @param place where the claim was found: {@code database}, {@code store} or
	 * {@code instance}
	 */
	record RunningFacts(String digest, @Nullable String operation, @Nullable String instance, @Nullable String since,
			@Nullable String remaining, @Nullable Guarantee guarantee, @Nullable String traceId, String place) {

		static RunningFacts of(RunningKey key) {
			RunDescription run = key.run();
			RunOrigin origin = key.origin();
			Duration remaining = key.remaining();
			return new RunningFacts(key.key().digest(), (run != null) ? run.operation() : null,
					(run != null) ? run.instance() : null, (origin != null) ? origin.since().toString() : null,
					(remaining != null) ? remaining.toString() : null, (origin != null) ? origin.guarantee() : null,
					(origin != null) ? origin.traceId() : null, key.place().name().toLowerCase(Locale.ROOT));
		}

	}

	/**
	 * What is known of a key in one place.
	 *
	 * @param state whether the work runs or is done
	 * @param since when the run claimed the key, in ISO-8601 format, or {@code null} if
	 * it is unknown
	 * @param remaining how long the lease or the retention lasts from now on, in ISO-8601
	 * format
	 * @param guarantee the guarantee of the run, or {@code null} if it is unknown
	 * @param traceId the trace of the run, or {@code null} without one
	 * @param operation what runs, or {@code null} if the work is done or it is unknown
	 * @param instance the process that has claimed the key, or {@code null} likewise
	 */
	record KeyDetails(StoredKey.State state, @Nullable String since, String remaining, @Nullable Guarantee guarantee,
			@Nullable String traceId, @Nullable String operation, @Nullable String instance) {

		static KeyDetails of(KeyState key) {
			RunOrigin origin = key.origin();
			RunDescription run = key.run();
			return new KeyDetails(key.state(), (origin != null) ? origin.since().toString() : null,
					key.remaining().toString(), (origin != null) ? origin.guarantee() : null,
					(origin != null) ? origin.traceId() : null, (run != null) ? run.operation() : null,
					(run != null) ? run.instance() : null);
		}

		/**
		 * Adds what an audit event contains.
		 */
		void describe(Map<String, Object> data) {
			data.put("state", this.state.name());
			if (this.since != null) {
				data.put("since", this.since);
			}
			if (this.guarantee != null) {
				data.put("guarantee", this.guarantee.name());
			}
			if (this.operation != null) {
				data.put("operation", this.operation);
			}
			if (this.instance != null) {
				data.put("instance", this.instance);
			}
		}

	}

}
