package dev.idempotent.autoconfigure.idempotency;

import dev.idempotent.IdempotentConfigurationException;
import org.jspecify.annotations.Nullable;
import org.springframework.util.StringUtils;

/**
 * What sets the keys of this application apart from those of others.
 *
 * @param name never blank
 */
record IdempotencyNamespace(String name) {

	static IdempotencyNamespace of(@Nullable String stated, String applicationName) {
		String namespace = StringUtils.hasText(stated) ? stated : applicationName;
		if (!StringUtils.hasText(namespace)) {
			throw new IdempotentConfigurationException(
					"Neither idempotent.namespace nor spring.application.name is set, so the keys of this application "
							+ "could not be told apart from those of others in the same store.",
					"Set spring.application.name, or idempotent.namespace if the name may change.", null);
		}
		return new IdempotencyNamespace(namespace);
	}

}
