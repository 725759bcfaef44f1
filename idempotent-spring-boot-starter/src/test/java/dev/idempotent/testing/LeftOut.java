package dev.idempotent.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.AutoConfigurationImportFilter;
import org.springframework.boot.autoconfigure.AutoConfigurationMetadata;
import org.springframework.context.EnvironmentAware;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
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

	private static final Predicate<String> OPERATIONS = Pattern
		.compile("org\\.springframework\\.boot\\.(.+\\.)?(actuate|health|metrics|micrometer)\\..+")
		.asMatchPredicate();

	private final List<Predicate<String>> leftOut = new ArrayList<>();

	/**
	 * An application may have no database by {@code test.with-database=false}, and run on
	 * Jetty instead of Tomcat by {@code test.container=jetty}. One with a property of
	 * Actuator has Actuator.
	 */
	@Override
	public void setEnvironment(Environment environment) {
		// It would search the package of the test for repositories.
		leaveOut(BOOT + "data.redis.autoconfigure.DataRedisRepositories");
		// It would replace the publication of application events.
		leaveOut("org.springframework.modulith.");
		if (!isAskedFor(environment, "springdoc", false)) {
			leaveOut("org.springdoc.");
		}
		if (!isAskedFor(environment, "tools", false)) {
			leaveOut("org.springframework.ai.");
		}
		if (!isAskedFor(environment, "security", false)) {
			leaveOut(BOOT + "security.");
		}
		if (!isAskedFor(environment, "jpa", false)) {
			leaveOut(BOOT + "hibernate.");
			leaveOut(BOOT + "data.jpa.");
		}
		if (!isAskedFor(environment, "database", true)) {
			leaveOut(BOOT + "jdbc.autoconfigure.DataSourceAutoConfiguration");
		}
		if (!isAskedFor(environment, "operations", isOperated(environment))) {
			this.leftOut.add(OPERATIONS);
		}
		boolean jetty = "jetty".equals(environment.getProperty("test.container"));
		leaveOut(BOOT + (jetty ? "tomcat." : "jetty."));
	}

	private void leaveOut(String prefix) {
		this.leftOut.add((name) -> name.startsWith(prefix));
	}

	private static boolean isAskedFor(Environment environment, String library, boolean otherwise) {
		return environment.getProperty("test.with-" + library, boolean.class, otherwise);
	}

	private static boolean isOperated(Environment environment) {
		return ((ConfigurableEnvironment) environment).getPropertySources()
			.stream()
			.filter(EnumerablePropertySource.class::isInstance)
			.flatMap((source) -> Stream.of(((EnumerablePropertySource<?>) source).getPropertyNames()))
			.anyMatch((name) -> name.startsWith("management."));
	}

	@Override
	public boolean[] match(@Nullable String[] classes, AutoConfigurationMetadata metadata) {
		boolean[] matches = new boolean[classes.length];
		for (int i = 0; i < classes.length; i++) {
			String name = classes[i];
			matches[i] = classes.length < ALL || name == null
					|| this.leftOut.stream().noneMatch((left) -> left.test(name));
		}
		return matches;
	}

}
