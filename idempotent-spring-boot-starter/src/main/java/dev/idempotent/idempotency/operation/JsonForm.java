package dev.idempotent.idempotency.operation;

import java.util.Optional;

import dev.idempotent.idempotency.CanonicalForm;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Compares trees of JSON as the maps, lists and scalars that they contain.
 */
public final class JsonForm implements CanonicalForm<JsonNode> {

	private static final JsonMapper json = JsonMapper.shared();

	@Override
	public Class<JsonNode> type() {
		return JsonNode.class;
	}

	@Override
	public Object canonical(JsonNode value) {
		Object plain = json.treeToValue(value, Object.class);
		return (plain != null) ? plain : Optional.empty();
	}

}
