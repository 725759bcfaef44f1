package dev.idempotent.autoconfigure.idempotency;

import dev.idempotent.IdempotentConfigurationException;
import org.jspecify.annotations.Nullable;
import org.springframework.util.StringUtils;

/**
 * Separates the keys of this application from those of others in the same store.
 *
 * @param name never blank
 */
record IdempotencyNamespace(String name) {

	static IdempotencyNamespace of(@Nullable String stated, String applicationName) {
		String namespace = StringUtils.hasText(stated) ? stated : applicationName;
		if (!StringUtils.hasText(namespace)) {
			throw new IdempotentConfigurationException(
					"Neither idempotent.namespace nor spring.application.name is set, so the keys of this application "
							+ "could not be distinguished from those of others in the same store.",
					"Set spring.application.name, or idempotent.namespace if the name may change.", null);
		}
		return new IdempotencyNamespace(namespace);
	}

}
