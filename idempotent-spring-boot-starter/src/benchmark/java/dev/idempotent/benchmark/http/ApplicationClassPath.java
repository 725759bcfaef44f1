package dev.idempotent.benchmark.http;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.idempotent.benchmark.http.application.MeasuredApplication;
import dev.idempotent.idempotency.Idempotent;
import org.springframework.util.FileSystemUtils;

/**
 * The class paths of the applications: a selection from the one of this JVM, without the
 * tests and the other contenders.
 */
final class ApplicationClassPath {

	private static final Path APPLICATIONS = Path
		.of(MeasuredApplication.class.getPackageName().replace('.', File.separatorChar));

	private final Path folder;

	private final Path earlier;

	private ApplicationClassPath(Path folder, Path earlier) {
		this.folder = folder;
		this.earlier = earlier;
	}

	/**
	 * Copies the classes of the applications into a folder of their own.
	 * @param earlier the folder of the classes of {@link Part#EARLIER_STARTER}
	 */
	static ApplicationClassPath create(Path earlier) {
		Path folder = Output.FOLDER.resolve("applications");
		try {
			FileSystemUtils.deleteRecursively(folder);
			Path copy = Files.createDirectories(folder.resolve(APPLICATIONS));
			FileSystemUtils.copyRecursively(home(MeasuredApplication.class).resolve(APPLICATIONS), copy);
			return new ApplicationClassPath(folder, earlier);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * The class path of an application.
	 * @param parts what it has beside its own classes
	 */
	String of(Set<Part> parts) {
		Stream<Path> libraries = Arrays.stream(all().split(File.pathSeparator, -1))
			.map(Path::of)
			.filter((entry) -> parts.stream().anyMatch((part) -> part.contains(entry.getFileName().toString())));
		return Stream
			.of(Stream.of(this.folder),
					parts.contains(Part.STARTER) ? Stream.of(home(Idempotent.class)) : Stream.<Path>empty(),
					parts.contains(Part.EARLIER_STARTER) ? Stream.of(this.earlier) : Stream.<Path>empty(), libraries)
			.flatMap((paths) -> paths)
			.map(Path::toString)
			.collect(Collectors.joining(File.pathSeparator));
	}

	/**
	 * The class path of this JVM.
	 */
	static String all() {
		return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
	}

	private static Path home(Class<?> type) {
		try {
			return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
		}
		catch (URISyntaxException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
