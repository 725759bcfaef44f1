package dev.idempotent.benchmark.http;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import dev.idempotent.benchmark.http.application.MeasuredApplication;
import dev.idempotent.benchmark.http.load.LoadGenerator;

/**
 * Starts the JVMs of the applications and of the load generator.
 *
 * @param home the JDK of the applications
 * @param classPath the class paths of the applications
 * @param options of all JVMs
 */
record Jvms(String home, ApplicationClassPath classPath, List<String> options) {

	ChildJvm application(String name, Set<Part> parts, List<String> arguments) {
		return start(name, this.home, "512m", this.classPath.of(parts), MeasuredApplication.class, arguments);
	}

	ChildJvm generator() {
		return start("load", System.getProperty("java.home"), "256m", ApplicationClassPath.all(), LoadGenerator.class,
				List.of());
	}

	private ChildJvm start(String name, String home, String heap, String classPath, Class<?> main,
			List<String> arguments) {
		List<String> command = new ArrayList<>(List.of(home + "/bin/java", "-Xmx" + heap));
		command.addAll(this.options);
		command.addAll(List.of("-cp", classPath, main.getName()));
		command.addAll(arguments);
		return ChildJvm.start(name, command);
	}

}
