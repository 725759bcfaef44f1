package dev.idempotent.sample.owner;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

import dev.idempotent.sample.CouponShopApplication;

/**
 * The command that starts the shop once more, in another role.
 */
final class OwnerCommand {

	private static final List<String> SMALL = List.of("-Xmx192m", "-Xss512k", "-XX:TieredStopAtLevel=1",
			"-XX:+UseSerialGC");

	private static final List<String> ROLE = List.of("--spring.profiles.active=" + OwnerRole.PROFILE,
			"--server.port=0");

	private OwnerCommand() {
	}

	/**
	 * Returns the command.
	 * @param java the home of a JDK
	 * @param classPath the class path of this JVM: the packaged shop alone, or its
	 * classes and libraries
	 */
	static List<String> of(String java, String classPath) {
		List<String> command = new ArrayList<>();
		command.add(Path.of(java, "bin", "java").toString());
		command.addAll(SMALL);
		if (isPackaged(classPath)) {
			command.addAll(List.of("-jar", classPath));
		}
		else {
			command.addAll(List.of("-cp", classPath, CouponShopApplication.class.getName()));
		}
		command.addAll(ROLE);
		return command;
	}

	private static boolean isPackaged(String classPath) {
		return classPath.endsWith(".jar") && classPath.split(Pattern.quote(File.pathSeparator)).length == 1;
	}

}
