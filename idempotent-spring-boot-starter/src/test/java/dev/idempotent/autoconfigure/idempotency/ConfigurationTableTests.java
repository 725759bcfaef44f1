package dev.idempotent.autoconfigure.idempotency;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;

import dev.idempotent.idempotency.Idempotent;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares the tables of the README with what the code says.
 */
class ConfigurationTableTests {

	private static final Path README = Path.of("../README.md");

	private static final String METADATA = "/META-INF/spring-configuration-metadata.json";

	@Test
	void listsEveryProperty() throws IOException {
		assertThat(table("## Configuration").keySet()).containsExactlyInAnyOrderElementsOf(properties().keySet());
	}

	@Test
	void statesTheDefaultsOfTheProperties() throws IOException {
		Map<String, String> stated = table("## Configuration");
		assertThat(properties()).allSatisfy((name, property) -> {
			if (property.has("defaultValue")) {
				// The processor writes a list in brackets.
				String value = property.get("defaultValue").asString().replaceAll("[\\[\\]]", "");
				assertThat(stated.get(name)).isEqualTo("`" + value + "`");
			}
		});
	}

	@Test
	void findsADescriptionOfEveryProperty() throws IOException {
		assertThat(properties().values())
			.allSatisfy((property) -> assertThat(property.path("description").asString("")).isNotBlank().endsWith("."));
	}

	/**
	 * Editors complete the constants of an enumeration.
	 */
	@Test
	void offersNoGuaranteeThatIsRefused() throws ClassNotFoundException, IOException {
		JsonNode property = Objects.requireNonNull(properties().get("idempotent.guarantee"));
		String type = property.get("type").asString();
		assertThat(Class.forName(type).getEnumConstants()).extracting(Object::toString)
			.containsExactly("LEASE", "TRANSACTION");
	}

	@Test
	void listsEveryAttributeOfTheAnnotation() throws IOException {
		assertThat(table("## Use it").keySet()).containsExactlyInAnyOrderElementsOf(
				Stream.of(Idempotent.class.getDeclaredMethods()).map(Method::getName).toList());
	}

	private static Map<String, JsonNode> properties() throws IOException {
		Map<String, JsonNode> properties = new TreeMap<>();
		try (InputStream metadata = IdempotencyProperties.class.getResourceAsStream(METADATA)) {
			JsonMapper.shared()
				.readTree(metadata)
				.get("properties")
				.forEach((property) -> properties.put(property.get("name").asString(), property));
		}
		// Boot gives every endpoint properties of its own.
		properties.keySet().removeIf((name) -> name.startsWith("management."));
		return properties;
	}

	/**
	 * The first column, without its quotes, and the second of the one table of a chapter.
	 */
	private static Map<String, String> table(String chapter) throws IOException {
		List<String> lines = Files.readAllLines(README);
		Map<String, String> table = new TreeMap<>();
		lines.stream()
			.skip(lines.indexOf(chapter) + 1L)
			.takeWhile((line) -> !line.startsWith("## "))
			.filter((line) -> line.startsWith("| `"))
			.map((line) -> line.split("\\|"))
			.forEach((cells) -> table.put(cells[1].strip().replace("`", ""), cells[2].strip()));
		return table;
	}

}
