package dev.idempotent.testing;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.AutoConfigurationImportFilter;
import org.springframework.boot.autoconfigure.AutoConfigurationMetadata;
import org.springframework.context.EnvironmentAware;
import org.springframework.core.env.Environment;

/**
 * Keeps springdoc out of the applications of tests that do not ask for it: they would
 * start it in vain.
 */
public final class WithoutSpringdoc implements AutoConfigurationImportFilter, EnvironmentAware {

	/**
	 * Lets an application have springdoc.
	 */
	public static final String WITH_SPRINGDOC = "test.with-springdoc=true";

	private boolean asked;

	@Override
	public void setEnvironment(Environment environment) {
		this.asked = environment.getProperty("test.with-springdoc", boolean.class, false);
	}

	@Override
	public boolean[] match(@Nullable String[] autoConfigurations, AutoConfigurationMetadata metadata) {
		boolean[] matches = new boolean[autoConfigurations.length];
		for (int i = 0; i < matches.length; i++) {
			String name = autoConfigurations[i];
			matches[i] = this.asked || name == null || !name.startsWith("org.springdoc.");
		}
		return matches;
	}

}
