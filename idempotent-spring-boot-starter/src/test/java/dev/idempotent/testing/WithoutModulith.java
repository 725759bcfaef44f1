package dev.idempotent.testing;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.AutoConfigurationImportFilter;
import org.springframework.boot.autoconfigure.AutoConfigurationMetadata;

/**
 * Keeps Spring Modulith out of the applications of tests that do not name its
 * auto-configurations: with the libraries of all tests it finds a database that most of
 * these applications do not have, and replaces the publication of application events.
 */
public final class WithoutModulith implements AutoConfigurationImportFilter {

	@Override
	public boolean[] match(@Nullable String[] autoConfigurations, AutoConfigurationMetadata metadata) {
		boolean[] matches = new boolean[autoConfigurations.length];
		for (int i = 0; i < matches.length; i++) {
			String name = autoConfigurations[i];
			matches[i] = name == null || !name.startsWith("org.springframework.modulith.");
		}
		return matches;
	}

}
