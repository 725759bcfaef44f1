package dev.idempotent.autoconfigure.idempotency;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;

import dev.idempotent.documentation.Page;
import dev.idempotent.idempotency.Idempotent;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares the tables of docs/configuration.md with the code.
 */
class ConfigurationTableTests {

	private static final String METADATA = "/META-INF/spring-configuration-metadata.json";

	private final Page page = Page.of("docs/configuration.md");

	@Test
	void listsEveryPropertyOnce() throws IOException {
		assertThat(stated()).extracting((row) -> row.get(0))
			.containsExactlyInAnyOrderElementsOf(
					properties().keySet().stream().map((name) -> "`" + name + "`").toList());
	}

	@Test
	void listsEachPropertyUnderTheHeadingOfItsPromise() {
		assertThat(this.page.rows("## Properties of the outbox"))
			.allSatisfy((row) -> assertThat(row.get(0)).startsWith("`idempotent.outbox."));
		assertThat(this.page.rows("## Properties of stream listeners"))
			.allSatisfy((row) -> assertThat(row.get(0)).startsWith("`idempotent.stream."));
		assertThat(this.page.rows("## Properties of sagas"))
			.allSatisfy((row) -> assertThat(row.get(0)).startsWith("`idempotent.saga."));
		assertThat(this.page.rows("## Properties of `@Idempotent`")).noneSatisfy(
				(row) -> assertThat(row.get(0)).containsAnyOf(".outbox.", ".saga.", ".stream.", ".encryption."));
	}

	@Test
	void statesTheDefaultsOfTheProperties() throws IOException {
		Map<String, JsonNode> properties = properties();
		assertThat(stated()).allSatisfy((row) -> {
			String name = row.get(0).replace("`", "");
			assertThat(properties).containsKey(name);
			JsonNode property = Objects.requireNonNull(properties.get(name));
			if (property.has("defaultValue")) {
				// The processor writes a list in brackets.
				String value = property.get("defaultValue").asString().replaceAll("[\\[\\]]", "");
				assertThat(row.get(1)).isEqualTo("`" + value + "`");
			}
			else {
				assertThat(row.get(1)).doesNotMatch("`(true|false|[0-9].*)`");
			}
		});
	}

	@Test
	void findsADescriptionOfEveryProperty() throws IOException {
		assertThat(properties().values())
			.allSatisfy((property) -> assertThat(property.path("description").asString("")).isNotBlank().endsWith("."));
		assertThat(stated()).allSatisfy((row) -> assertThat(row.get(2)).endsWith("."));
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
	void listsEveryAttributeOfTheAnnotation() {
		assertThat(this.page.rows("## Attributes of `@Idempotent`")).extracting((row) -> row.get(0))
			.containsExactlyInAnyOrderElementsOf(Stream.of(Idempotent.class.getDeclaredMethods())
				.map(Method::getName)
				.map((name) -> "`" + name + "`")
				.toList());
	}

	private List<List<String>> stated() {
		return Stream
			.of("## Properties of `@Idempotent`", "## Properties of the outbox", "## Properties of sagas",
					"## Properties of stream listeners", "## Properties of the encryption")
			.flatMap((chapter) -> this.page.rows(chapter).stream())
			.toList();
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

}
