package dev.idempotent.documentation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A page of the documentation.
 */
public final class Page {

	private static final Path PROJECT = Path.of("..").toAbsolutePath().normalize();

	private static final Pattern BLOCK = Pattern.compile("^```(\\w*)\n(.*?)^```$", Pattern.DOTALL | Pattern.MULTILINE);

	private static final Pattern SPAN = Pattern.compile("`([^`\n]+)`");

	private static final Pattern LINK = Pattern.compile("]\\(([^)\\s]+)\\)");

	private static final Pattern HEADING = Pattern.compile("^#+ (.+)$", Pattern.MULTILINE);

	private final Path file;

	private final String text;

	private Page(Path file) {
		this.file = file;
		this.text = text(file);
	}

	/**
	 * Reads a page.
	 * @param path its path in the project
	 */
	public static Page of(String path) {
		return new Page(PROJECT.resolve(path));
	}

	/**
	 * README.md and every page of docs.
	 */
	public static List<Page> all() {
		try (Stream<Path> files = Files.walk(PROJECT.resolve("docs"))) {
			return Stream
				.concat(Stream.of(PROJECT.resolve("README.md")),
						files.filter((file) -> file.toString().endsWith(".md")).sorted())
				.map(Page::new)
				.toList();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * The names of the classes of all modules.
	 * @param folder where their sources are in a module
	 */
	static Set<String> sources(String folder) {
		Set<String> names = new HashSet<>();
		try (Stream<Path> modules = Files.list(PROJECT)) {
			for (Path sources : modules.map((module) -> module.resolve(folder)).filter(Files::isDirectory).toList()) {
				try (Stream<Path> files = Files.walk(sources)) {
					files.map((file) -> file.getFileName().toString())
						.filter((name) -> name.endsWith(".java"))
						.forEach((name) -> names.add(name.substring(0, name.length() - ".java".length())));
				}
			}
			return names;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * A file of the project as it is.
	 */
	public static String source(String path) {
		return text(PROJECT.resolve(path));
	}

	/**
	 * The page's path in the project.
	 */
	public String path() {
		return PROJECT.relativize(this.file).toString().replace('\\', '/');
	}

	public String text() {
		return this.text;
	}

	/**
	 * The contents of the fenced blocks in a language.
	 */
	public List<String> blocks(String language) {
		return BLOCK.matcher(this.text)
			.results()
			.filter((block) -> block.group(1).equals(language))
			.map((block) -> block.group(2))
			.toList();
	}

	/**
	 * What stands in code font outside of fenced blocks.
	 */
	public List<String> codeSpans() {
		return groups(SPAN, withoutBlocks());
	}

	public List<String> links() {
		return groups(LINK, withoutBlocks());
	}

	public Path resolve(String link) {
		return link.isEmpty() ? this.file : this.file.resolveSibling(link);
	}

	/**
	 * The names by which links refer to the headings, as GitHub makes them.
	 */
	public List<String> anchors() {
		return groups(HEADING, withoutBlocks()).stream()
			.map((heading) -> heading.toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-'))
			.toList();
	}

	/**
	 * The rows of the tables of a chapter, cell by cell, without their heads.
	 * @param chapter the heading of the chapter, which lasts until the next one that is
	 * not below it
	 */
	public List<List<String>> rows(String chapter) {
		List<String> lines = this.text.lines().toList();
		int start = lines.indexOf(chapter);
		if (start < 0) {
			throw new IllegalArgumentException(path() + " has no heading '" + chapter + "'");
		}
		List<List<String>> rows = new ArrayList<>();
		int depth = chapter.indexOf(' ');
		for (String line : lines.subList(start + 1, lines.size())) {
			if (line.matches("#{1," + depth + "} .*")) {
				break;
			}
			if (line.startsWith("| `")) {
				rows.add(Stream.of(line.split("\\|")).skip(1).map(String::strip).toList());
			}
		}
		return rows;
	}

	String withoutBlocks() {
		return BLOCK.matcher(this.text).replaceAll("");
	}

	private static List<String> groups(Pattern pattern, String text) {
		return pattern.matcher(text).results().map((MatchResult match) -> match.group(1)).toList();
	}

	private static String text(Path file) {
		try {
			return Files.readString(file).replace("\r\n", "\n");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public String toString() {
		return path();
	}

}
