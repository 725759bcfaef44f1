package dev.idempotent.saga.method;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.canonical.CanonicalJson;
import dev.idempotent.idempotency.canonical.CanonicalValues;
import dev.idempotent.idempotency.operation.KeyExpression;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.ParseException;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * The ids of sagas: digests of their names and of what their key expressions yield. No
 * table contains the keys themselves.
 */
public final class SagaKeys {

	/**
	 * Keys that come from expressions are JSON or begin with another word.
	 */
	private static final String OF_RUN = "run ";

	private static final String KEY = "key";

	private final String namespace;

	private final KeyExpression expression;

	/**
	 * Creates the ids of the sagas of an application.
	 * @param namespace the namespace of keys
	 * @param values compares keys
	 */
	public SagaKeys(String namespace, CanonicalValues values) {
		this.namespace = namespace;
		this.expression = expression(values);
	}

	private static KeyExpression expression(CanonicalValues values) {
		try {
			return KeyExpression.parse("#" + KEY, Set.of(KEY), values);
		}
		catch (ParseException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Returns the id of a saga.
	 * @param saga the name of the saga
	 * @param key what its key expression yields
	 * @return the id, whether or not there is such a saga
	 * @throws IllegalArgumentException if the key is empty
	 */
	public IdempotencyKey idOf(String saga, Object key) {
		String value = this.expression.evaluate(Map.of(KEY, key));
		if (value == null) {
			throw new IllegalArgumentException("The key of a saga must not be empty");
		}
		return ofCanonical(saga, value);
	}

	/**
	 * Returns the id of a saga by the canonical form of its key.
	 */
	IdempotencyKey ofCanonical(String saga, String canonical) {
		return IdempotencyKey.of(IdempotencyKey.Kind.SAGA, this.namespace, "", saga, canonical);
	}

	/**
	 * Returns the id of a saga that has the key of a run.
	 */
	IdempotencyKey ofRun(String saga, IdempotencyKey run) {
		return ofCanonical(saga, OF_RUN + run.digest());
	}

	/**
	 * Returns the ids that a saga has if an operator has written its key: as a text, as
	 * JSON, such as a number or a list, or as the digest of the key of a run.
	 * @param saga the name of the saga
	 * @param written the key as the operator has written it
	 * @return the ids, at least one
	 * @throws IllegalArgumentException if the key is empty
	 */
	public List<IdempotencyKey> candidates(String saga, String written) {
		Set<IdempotencyKey> ids = new LinkedHashSet<>();
		ids.add(idOf(saga, written));
		@Nullable String json = CanonicalJson.of(written.getBytes(UTF_8));
		if (json != null) {
			ids.add(ofCanonical(saga, json));
		}
		ids.add(ofCanonical(saga, OF_RUN + written));
		return new ArrayList<>(ids);
	}

}
