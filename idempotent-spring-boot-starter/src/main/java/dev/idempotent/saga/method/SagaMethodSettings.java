package dev.idempotent.saga.method;

import java.util.function.UnaryOperator;

import org.springframework.transaction.interceptor.TransactionAttributeSource;
import tools.jackson.databind.json.JsonMapper;

/**
 * The settings of all saga methods.
 *
 * @param namespace the namespace of keys, usually the name of the application
 * @param json writes and reads arguments and results
 * @param attributes reads {@code @Transactional}, which a saga must not have
 * @param placeholders resolves the placeholders in attributes of annotations
 */
public record SagaMethodSettings(String namespace, JsonMapper json, TransactionAttributeSource attributes,
		UnaryOperator<String> placeholders) {

	/**
	 * Disables default typing, so that stored data contains no type names.
	 */
	public SagaMethodSettings {
		json = json.rebuild().deactivateDefaultTyping().build();
	}

}
