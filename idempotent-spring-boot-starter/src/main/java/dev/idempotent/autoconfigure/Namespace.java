package dev.idempotent.autoconfigure;

import dev.idempotent.IdempotentConfigurationException;
import org.jspecify.annotations.Nullable;
import org.springframework.util.StringUtils;

/**
 * The namespace of an application, which is declared and never derived: the name of an
 * application changes with a deployment, and its keys would be forgotten.
 */
public final class Namespace {

	private Namespace() {
	}

	/**
	 * Returns the namespace.
	 * @param configured the value of {@code idempotent.namespace}
	 * @param applicationName the name of the application to propose, possibly empty
	 * @return the namespace
	 * @throws IdempotentConfigurationException if it is not set
	 */
	public static String require(@Nullable String configured, String applicationName) {
		if (configured != null && StringUtils.hasText(configured)) {
			return configured;
		}
		throw new IdempotentConfigurationException(
				"idempotent.namespace is not set. It is part of all keys and of the source of events, so that they "
						+ "differ from those of other applications, and is not taken from spring.application.name, which "
						+ "may change.",
				"Set idempotent.namespace=" + (StringUtils.hasText(applicationName) ? applicationName : "<name>")
						+ ". It must never change: keys of another namespace are unknown, so completed calls would run "
						+ "again.");
	}

}
