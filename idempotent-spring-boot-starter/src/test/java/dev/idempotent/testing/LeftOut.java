package dev.idempotent.testing;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.AutoConfigurationImportFilter;
import org.springframework.boot.autoconfigure.AutoConfigurationMetadata;
import org.springframework.context.EnvironmentAware;
import org.springframework.core.env.Environment;

/**
 * Leaves out of the applications of tests what they do not ask for, although the class
 * path of all tests has it: it would take most of their start. Applications that name
 * their auto-configurations get those.
 */
final class LeftOut implements AutoConfigurationImportFilter, EnvironmentAware {

	private static final String BOOT = "org.springframework.boot.";

	/**
	 * Nobody names so many.
	 */
	private static final int ALL = 100;

	private final List<String> prefixes = new ArrayList<>();

	/**
	 * An application may have no database by {@code test.with-database=false}, and run on
	 * Jetty instead of Tomcat by {@code test.container=jetty}.
	 */
	@Override
	public void setEnvironment(Environment environment) {
		// It would replace the publication of application events.
		this.prefixes.add("org.springframework.modulith.");
		if (!isAskedFor(environment, "springdoc", false)) {
			this.prefixes.add("org.springdoc.");
		}
		if (!isAskedFor(environment, "tools", false)) {
			this.prefixes.add("org.springframework.ai.");
		}
		if (!isAskedFor(environment, "security", false)) {
			this.prefixes.add(BOOT + "security.");
		}
		if (!isAskedFor(environment, "jpa", false)) {
			this.prefixes.addAll(List.of(BOOT + "hibernate.", BOOT + "data.jpa."));
		}
		if (!isAskedFor(environment, "database", true)) {
			this.prefixes.add(BOOT + "jdbc.autoconfigure.DataSourceAutoConfiguration");
		}
		boolean jetty = "jetty".equals(environment.getProperty("test.container"));
		this.prefixes.add(BOOT + (jetty ? "tomcat." : "jetty."));
	}

	private static boolean isAskedFor(Environment environment, String library, boolean otherwise) {
		return environment.getProperty("test.with-" + library, boolean.class, otherwise);
	}

	@Override
	public boolean[] match(@Nullable String[] classes, AutoConfigurationMetadata metadata) {
		boolean[] matches = new boolean[classes.length];
		for (int i = 0; i < classes.length; i++) {
			String name = classes[i];
			matches[i] = classes.length < ALL || name == null || this.prefixes.stream().noneMatch(name::startsWith);
		}
		return matches;
	}

}
