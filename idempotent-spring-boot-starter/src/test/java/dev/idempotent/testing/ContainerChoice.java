package dev.idempotent.testing;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.AutoConfigurationImportFilter;
import org.springframework.boot.autoconfigure.AutoConfigurationMetadata;
import org.springframework.context.EnvironmentAware;
import org.springframework.core.env.Environment;

/**
 * Both servlet containers are on the test class path. Applications run on Tomcat unless
 * their property {@code test.container} is {@code jetty}.
 */
final class ContainerChoice implements AutoConfigurationImportFilter, EnvironmentAware {

	private String left = "";

	@Override
	public void setEnvironment(Environment environment) {
		boolean jetty = "jetty".equals(environment.getProperty("test.container"));
		this.left = "org.springframework.boot." + (jetty ? "tomcat" : "jetty") + ".autoconfigure.";
	}

	@Override
	public boolean[] match(@Nullable String[] classes, AutoConfigurationMetadata metadata) {
		boolean[] matches = new boolean[classes.length];
		for (int i = 0; i < classes.length; i++) {
			String name = classes[i];
			matches[i] = (name == null) || !name.startsWith(this.left);
		}
		return matches;
	}

}
