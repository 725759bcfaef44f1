package dev.idempotent.autoconfigure.operations;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;

import dev.idempotent.autoconfigure.idempotency.KeySettings;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore.KeyCount;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.claim.FoundKey;
import dev.idempotent.idempotency.claim.IdempotencyEngine;
import dev.idempotent.idempotency.claim.KeyAdministration;
import dev.idempotent.idempotency.claim.KeyChange;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;

/**
 * The actuator's endpoint {@code idempotency}. Shows neither keys nor responses. The path
 * and the HTTP method alone decide which operation runs: the body and the query of a
 * request can replace the value of a selector.
 */
@WebEndpoint(id = "idempotency")
@RegisterReflectionForBinding({ IdempotencyEndpoint.Overview.class, IdempotencyEndpoint.Changed.class,
		RefusedOperationException.Problem.class, KeyAnswer.class })
final class IdempotencyEndpoint {

	private static final Logger logger = LoggerFactory.getLogger(IdempotencyEndpoint.class);

	/**
	 * How many keys are counted.
	 */
	private static final int MAX_COUNT = 10_000;

	private static final int NOT_IMPLEMENTED = 501;

	private final IdempotencyEngine engine;

	private final KeyAdministration keys;

	private final KeySettings settings;

	private final OperatorAudit audit;

	IdempotencyEndpoint(IdempotencyEngine engine, KeyAdministration keys, KeySettings settings, OperatorAudit audit) {
		this.engine = engine;
		this.keys = keys;
		this.settings = settings;
		this.audit = audit;
	}

	@ReadOperation
	WebEndpointResponse<?> overview() {
		return answer(
				() -> new Overview(this.engine.storeName(), this.engine.running(), this.engine.settlementsWaiting(),
						this.engine.oldestUnsettled().toString(), this.keys.count(MAX_COUNT)));
	}

	@ReadOperation
	WebEndpointResponse<?> key(@Selector String digest) {
		return answer(() -> find(digest(digest)));
	}

	@WriteOperation
	WebEndpointResponse<?> release(@Selector String digest, SecurityContext security) {
		return answer(() -> change(KeyVerb.RELEASE, digest(digest), security));
	}

	@DeleteOperation
	WebEndpointResponse<?> forget(@Selector String digest, SecurityContext security) {
		return answer(() -> change(KeyVerb.FORGET, digest(digest), security));
	}

	@WriteOperation
	WebEndpointResponse<?> find(@Nullable String kind, @Nullable String scope, @Nullable String principal,
			@Nullable String issuer, @Nullable String operation, @Nullable String key) {
		return answer(() -> find(new KeyRequest(kind, scope, principal, issuer, operation, key)));
	}

	/**
	 * Expressions yield JSON: the key {@code 4711} can be a number, or a text in quotes.
	 */
	private KeyAnswer find(KeyRequest described) {
		IdempotencyKey key = described.digested(this.settings.namespace());
		FoundKey found = this.keys.find(key);
		KeyRequest text = (found == null) ? described.asText() : null;
		return (text != null) ? find(text.digested(this.settings.namespace())) : answerOf(key, found);
	}

	private KeyAnswer find(IdempotencyKey key) {
		return answerOf(key, this.keys.find(key));
	}

	private static KeyAnswer answerOf(IdempotencyKey key, @Nullable FoundKey found) {
		if (found == null) {
			throw absent(key);
		}
		return KeyAnswer.of(key, found);
	}

	private Changed change(KeyVerb verb, IdempotencyKey key, SecurityContext security) {
		KeyChange change = apply(verb, key, security);
		FoundKey before = change.before();
		if (before == null) {
			throw absent(key);
		}
		KeyAnswer now = (change.now() != null) ? KeyAnswer.of(key, change.now()) : null;
		return switch (change.outcome()) {
			case DONE -> new Changed(verb.past(), KeyAnswer.of(key, before), now,
					verb.consequence(this.settings.replayCacheTtl()));
			case ABSENT -> throw absent(key);
			case REFUSED -> throw verb.refused();
			case CONTENDED -> throw RefusedOperationException.conflict("A request has changed the key at the same time",
					"Look the key up again, and repeat the operation if it is still needed");
		};
	}

	private KeyChange apply(KeyVerb verb, IdempotencyKey key, SecurityContext security) {
		try {
			KeyChange change = verb.apply(this.keys, key);
			if (change.before() != null && change.outcome() != KeyChange.Outcome.REFUSED) {
				record(verb, key, change.before(), change.outcome().name(), security);
			}
			return change;
		}
		catch (IdempotencyStoreException | UnsupportedOperationException ex) {
			record(verb, key, null, OperatorAudit.UNKNOWN, security);
			throw ex;
		}
	}

	private void record(KeyVerb verb, IdempotencyKey key, @Nullable FoundKey before, String outcome,
			SecurityContext security) {
		Map<String, Object> data = new LinkedHashMap<>();
		if (before != null) {
			KeyAnswer.Facts.of(before.deciding()).describe(data);
		}
		logger.info("An operator has requested to {} the key {} {}: {}", verb.name().toLowerCase(Locale.ROOT), key,
				data, outcome);
		data.put("digest", key.digest());
		data.put("outcome", outcome);
		this.audit.publish(security, verb.auditType(), data);
	}

	private static IdempotencyKey digest(String digest) {
		return OperatorParameters.digest(digest, "digest of a key",
				"Take it from the log, or from POST /actuator/idempotency");
	}

	private static RefusedOperationException absent(IdempotencyKey key) {
		return RefusedOperationException.absent("There is no key with the digest " + key.digest(),
				"Check kind, scope, operation and namespace. A key is absent before its first request, after a release "
						+ "and after its retention; under Guarantee.TRANSACTION without another store also while its work runs");
	}

	private static WebEndpointResponse<?> answer(Supplier<?> work) {
		try {
			return new WebEndpointResponse<>(work.get());
		}
		catch (RefusedOperationException ex) {
			return ex.toResponse();
		}
		catch (UnsupportedOperationException ex) {
			return new RefusedOperationException(NOT_IMPLEMENTED, String.valueOf(ex.getMessage()),
					"Implement IdempotencyStore.find and forget; a store that wraps another one has to forward them")
				.toResponse();
		}
		catch (IdempotencyStoreUnavailableException ex) {
			logger.debug("The idempotency endpoint could not read or change the store", ex);
			return new RefusedOperationException(WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE,
					"The store or the database did not respond",
					"Repeat the request; an operation that has already been done answers 404")
				.toResponse();
		}
		catch (IdempotencyStoreException ex) {
			logger.debug("The idempotency endpoint could not read or change the store", ex);
			return new RefusedOperationException(WebEndpointResponse.STATUS_INTERNAL_SERVER_ERROR,
					String.valueOf(ex.getMessage()), "Correct the store, then repeat the request")
				.toResponse();
		}
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

}
