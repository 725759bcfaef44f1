package dev.idempotent.outbox.redis;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;

import dev.idempotent.outbox.SerializedEvent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link CloudEventJson}.
 */
class CloudEventJsonTests {

	private static final String JSON = "application/json";

	private static final String TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

	@Test
	void writesTheAttributesAndTheUnchangedPayload() {
		Map<String, String> headers = new LinkedHashMap<>();
		headers.put("ce_source", "/shop");
		headers.put("ce_time", "2026-11-22T10:15:30.123Z");
		headers.put("content-type", JSON);
		headers.put("traceparent", TRACE);
		SerializedEvent event = Events.toChannel("orders", utf8("{ \"id\" : 1.50,\n\"name\":\"gr\\u00fcn \u20ac\" }"),
				headers);
		assertThat(write(event)).isEqualTo("{\"specversion\":\"1.0\",\"id\":\"" + event.id()
				+ "\",\"type\":\"order.created\",\"subject\":\"key\",\"partitionkey\":\"key\",\"sequence\":\"0000000000000000001\","
				+ "\"source\":\"/shop\",\"time\":\"2026-11-22T10:15:30.123Z\",\"datacontenttype\":\"application/json\","
				+ "\"traceparent\":\"" + TRACE + "\",\"data\":{ \"id\" : 1.50,\n\"name\":\"gr\\u00fcn \u20ac\" }}");
	}

	@ParameterizedTest
	@ValueSource(strings = { JSON, "APPLICATION/JSON; charset=utf-8", "application/vnd.shop+json", "text/json" })
	void writesThePayloadOfAJsonTypeAsData(String type) {
		assertThat(write(JsonMapper.shared(), type, utf8("[1,null]")).get("data").toString()).isEqualTo("[1,null]");
	}

	@ParameterizedTest
	@ValueSource(strings = { "application/octet-stream", "text/plain", "application/jsonl", "application/xml+jsonp" })
	void writesThePayloadOfAnotherTypeInBase64(String type) {
		assertIsBase64(type, utf8("[1,null]"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "{", "[1,]", "{} {}", "1 2", "{\"a\":1}}", "nul", "\"a", "\"\\x\"", "01", "NaN",
			"'a'", "/**/1", "\uFEFF{}", "{\"a\":\"\u0001\"}" })
	void writesInvalidJsonInBase64(String payload) {
		assertIsBase64(JSON, utf8(payload));
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "null", "true", "-1.5e10", "\"a\"", " {} ", "[[[[]]]]", "\"\\ud800\"", "{\"a\":1,\"a\":2}" })
	void acceptsAnyJsonValue(String payload) {
		assertThat(new String(CloudEventJson.write(event(JSON, utf8(payload))), StandardCharsets.UTF_8))
			.endsWith(",\"data\":" + payload + "}");
	}

	@Test
	void writesJsonInAnotherEncodingInBase64() {
		assertIsBase64(JSON, "{\"a\":1}".getBytes(StandardCharsets.UTF_16));
		assertIsBase64(JSON, "\"\u00fc\"".getBytes(StandardCharsets.ISO_8859_1));
	}

	@Test
	void writesDeeplyNestedJsonInBase64() {
		assertIsBase64(JSON, utf8("[".repeat(100_000) + "]".repeat(100_000)));
	}

	@Test
	void writesOtherHeadersAsExtensionsWithValidNames() {
		Map<String, String> headers = new LinkedHashMap<>();
		headers.put("x-tenant", "a\"b\\\n");
		headers.put("xtenant", "second");
		headers.put("data", "lost");
		headers.put("data_base64", "kept");
		headers.put("id", "lost");
		headers.put("-", "lost");
		SerializedEvent event = Events.toChannel("orders", utf8("1"), headers);
		JsonNode json = JsonMapper.shared().readTree(CloudEventJson.write(event));
		assertThat(json.propertyNames()).containsExactly("specversion", "id", "type", "subject", "partitionkey",
				"sequence", "xtenant", "database64", "data_base64");
		assertThat(json.get("xtenant").asString()).isEqualTo("a\"b\\\n");
		assertThat(json.get("id").asString()).isEqualTo(event.id().toString());
	}

	@ParameterizedTest
	@ValueSource(strings = { "ce_data", "ce_data_base64", "ce_", "ce_my-Attribute" })
	void writesNoMemberTwiceAndNoInvalidName(String header) {
		Map<String, String> headers = Map.of(header, "value", "content-type", JSON);
		String json = write(Events.toChannel("orders", utf8("1"), headers));
		assertThat(json).containsOnlyOnce("\"data\":").doesNotContain("\"data_base64\":");
		assertThat(JsonMapper.shared().readTree(json).propertyNames())
			.allSatisfy((name) -> assertThat(name).matches("[a-z0-9]+"));
	}

	@Test
	void replacesInvalidUnicodeInHeaders() {
		SerializedEvent event = Events.toChannel("orders", utf8("1"), Map.of("tenant", "a\ud800b"));
		assertThat(JsonMapper.shared().readTree(CloudEventJson.write(event)).get("tenant").asString()).isEqualTo("a?b");
	}

	@Test
	void writesRandomBytesWithoutLoss() {
		Random random = new Random(42);
		for (int i = 0; i < 200; i++) {
			byte[] payload = new byte[random.nextInt(40)];
			random.nextBytes(payload);
			assertIsBase64("application/octet-stream", payload);
		}
	}

	private static void assertIsBase64(String type, byte[] payload) {
		JsonNode json = write(JsonMapper.shared(), type, payload);
		assertThat(Base64.getDecoder().decode(json.get("data_base64").asString())).isEqualTo(payload);
		assertThat(json.get("datacontenttype").asString()).isEqualTo(type);
		assertThat(json.has("data")).isFalse();
	}

	private static JsonNode write(JsonMapper mapper, String type, byte[] payload) {
		return mapper.readTree(CloudEventJson.write(event(type, payload)));
	}

	private static String write(SerializedEvent event) {
		return new String(CloudEventJson.write(event), StandardCharsets.UTF_8);
	}

	private static SerializedEvent event(String type, byte[] payload) {
		return Events.toChannel("orders", payload, Map.of("content-type", type));
	}

	private static byte[] utf8(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
