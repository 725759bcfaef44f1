package dev.idempotent.sample.crash.site;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import org.springframework.util.Assert;

/**
 * The packaged shop, unpacked by itself so that it starts fast.
 */
final class ShopBuild {

	private static final String JAVA = Path.of(System.getProperty("java.home"), "bin", "java").toString();

	private static final List<String> SMALL = List.of("-Xmx160m", "-Xss512k", "-XX:TieredStopAtLevel=1",
			"-XX:+UseSerialGC");

	private final Path jar;

	private final Path archive;

	private ShopBuild(Path jar, Path archive) {
		this.jar = jar;
		this.archive = archive;
	}

	/**
	 * Unpacks the jar and starts the shop once, so that later starts share its classes.
	 * @param packaged the jar
	 * @param folder where to
	 * @param arguments the shop's arguments
	 */
	static ShopBuild unpack(Path packaged, Path folder, List<String> arguments) {
		Assert.state(packaged.toFile().isFile(), () -> "No jar " + packaged + ": package the sample first");
		Path target = folder.resolve("shop");
		Path log = folder.resolve("unpack.log");
		run(log, List.of("-Djarmode=tools", "-jar", packaged.toString(), "extract", "--destination",
				target.toString()));
		File[] jars = target.toFile().listFiles((file) -> file.getName().endsWith(".jar"));
		Assert.state(jars != null && jars.length == 1, () -> "The shop was not unpacked: see " + log);
		ShopBuild build = new ShopBuild(jars[0].toPath(), folder.resolve("shop.jsa"));
		run(log, build.arguments(
				List.of("-Dspring.context.exit=onRefresh", "-XX:ArchiveClassesAtExit=" + build.archive), arguments));
		return build;
	}

	private static void run(Path log, List<String> arguments) {
		List<String> command = Stream.concat(Stream.of(JAVA), arguments.stream()).toList();
		int status = ChildProcess.start(command, log).awaitEnd();
		Assert.state(status == 0, () -> "A preparation of the shop ended with status " + status + ": see " + log);
	}

	private List<String> arguments(List<String> options, List<String> arguments) {
		List<String> all = new ArrayList<>(SMALL);
		all.addAll(options);
		all.addAll(List.of("-jar", this.jar.toString()));
		all.addAll(arguments);
		return all;
	}

	/**
	 * The command that starts a shop.
	 */
	List<String> command(List<String> arguments) {
		List<String> command = new ArrayList<>(List.of(JAVA));
		command.addAll(arguments(List.of("-XX:SharedArchiveFile=" + this.archive), arguments));
		return command;
	}

}
