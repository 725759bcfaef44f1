package dev.idempotent.idempotency.operation;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import dev.idempotent.idempotency.CanonicalForm;
import dev.idempotent.idempotency.canonical.CanonicalValues;
import dev.idempotent.idempotency.canonical.IncomparableValueException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.expression.EvaluationException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link KeyExpression}: equal values are one key, all others are another, and
 * what identifies nothing is none.
 */
@SuppressWarnings("UnnecessaryStringBuilder")
class KeyExpressionTests {

	private final CanonicalValues values = new CanonicalValues(List.<CanonicalForm<?>>of(new JsonForm(),
			CanonicalForm.of(Account.class, (account) -> Arrays.asList(account.number()))));

	static Stream<Arguments> withoutContent() {
		JsonNode event = JsonMapper.shared().readTree("{\"none\":null,\"empty\":\"\",\"nothing\":{}}");
		return Stream
			.<Object>of("", " ", List.of(), List.of("", " "), new String[0], new String[] { "" }, new byte[0],
					new int[0], Map.of(), Map.of("id", ""), Map.of("id", Optional.empty()), event.path("id"),
					event.path("none"), event.path("empty"), event.path("nothing"), new Account(null), new Account(""),
					new Named(new Account(" ")), new StringBuilder(), new Iban(""))
			.map(Arguments::of);
	}

	@ParameterizedTest
	@MethodSource("withoutContent")
	void yieldsNullForWhatIdentifiesNothing(Object value) {
		assertThat(key(value)).isNull();
	}

	@Test
	void yieldsNullForAMapOfNothing() {
		assertThat(evaluate("{tenant: #a, id: #b}", null, null)).isNull();
		assertThat(evaluate("{#a, #b}", null, "")).isNull();
		assertThat(evaluate("{tenant: #a, id: #b}", "acme", null)).isEqualTo("{\"id\":null,\"tenant\":\"acme\"}");
	}

	@Test
	void yieldsAKeyForContentThatIsZeroOrFalse() {
		assertThat(key(0)).isEqualTo("0");
		assertThat(key(List.of(false))).isEqualTo("[false]");
		assertThat(key(new int[1])).isNotNull();
		assertThat(key(new byte[1])).isNotNull();
		assertThat(key(new Account("0"))).isNotNull();
		assertThat(key(JsonMapper.shared().readTree("[0]"))).isNotNull();
	}

	@Test
	void yieldsOneKeyForEqualListsAndMapsOfTwoLibraries() {
		assertThat(key(ImmutableList.of("a", "b"))).isEqualTo(key(new ArrayList<>(List.of("a", "b"))))
			.isEqualTo("[\"a\",\"b\"]");
		assertThat(key(ImmutableMap.of("a", 1))).isEqualTo(key(new HashMap<>(Map.of("a", 1)))).isEqualTo("{\"a\":1}");
		assertThat(key(List.of(ImmutableList.of(1)))).isEqualTo(key(List.of(List.of(1))));
	}

	@Test
	void tellsTextsApartWhoseToStringDoesNot() {
		assertThat(key(new Iban("DE11"))).isNotEqualTo(key(new Iban("DE22"))).isEqualTo(key(new Iban("DE11")));
		assertThat(key(new StringBuilder("a"))).isEqualTo("\"a\"");
	}

	@Test
	void tellsConstantsApartThatImplementOneInterface() {
		assertThat(key(OrderEvent.CREATED)).isNotEqualTo(key(InvoiceEvent.CREATED)).isEqualTo(key(OrderEvent.CREATED));
		assertThat(key(List.<Object>of(OrderEvent.CREATED, "1")))
			.isNotEqualTo(key(List.<Object>of(InvoiceEvent.CREATED, "1")));
		assertThat(key(Plain.CREATED)).isEqualTo("\"CREATED\"");
	}

	@Test
	void usesTheFormOfAType() {
		CanonicalValues declared = new CanonicalValues(
				List.<CanonicalForm<?>>of(CanonicalForm.of(UUID.class, (id) -> List.of("id", id.toString())),
						CanonicalForm.of(Plain.class, (constant) -> List.of(constant.name()))));
		String id = UUID.randomUUID().toString();
		assertThat(evaluate(declared, "#a", UUID.fromString(id), null)).isNotEqualTo('"' + id + '"');
		assertThat(evaluate(declared, "#a", Plain.CREATED, null)).isNotEqualTo("\"CREATED\"");
	}

	@ParameterizedTest
	@ValueSource(strings = { "#a + ':' + #b", "#b + #a", "{#a, 'x' + #b}", "{id: #a + #b}",
			"#a.empty ? 'none' : #a + #b", "(#a + ':') + (':' + #b)" })
	void joinsNothingWithNull(String expression) {
		List<@Nullable Object> nothing = Arrays.<@Nullable Object>asList(null, Optional.empty(),
				JsonMapper.shared().readTree("{\"b\":null}").path("b"));
		assertThat(nothing).allSatisfy((value) -> assertThatExceptionOfType(EvaluationException.class)
			.isThrownBy(() -> evaluate(expression, "acme", value))
			.withMessageContainingAll("+", "null", "list")
			.withMessageNotContaining("acme"));
		assertThat(evaluate(expression, "acme", "1")).isNotNull();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
			#b == null ? #a : #a + #b      | "acme"
			#a + (#b ?: 'none')            | "acmenone"
			#a ?: 'x' + #b                 | "acme"
			#a + 'null'                    | "acmenull"
			1 + 2                          | 3
			""")
	void joinsWhatIsNotNull(String expression, String key) {
		assertThat(evaluate(expression, "acme", null)).isEqualTo(key);
	}

	@Test
	void refusesAFormThatFails() {
		CanonicalValues failing = new CanonicalValues(List.of(CanonicalForm.of(Account.class, (account) -> {
			throw new IllegalStateException("secret");
		})));
		assertThatExceptionOfType(IncomparableValueException.class)
			.isThrownBy(() -> evaluate(failing, "#a", new Account("1"), null))
			.withMessageContaining("cannot be read")
			.withMessageNotContaining("secret");
	}

	private @Nullable String key(Object value) {
		return evaluate("#a", value, null);
	}

	private @Nullable String evaluate(String expression, @Nullable Object a, @Nullable Object b) {
		return evaluate(this.values, expression, a, b);
	}

	private static @Nullable String evaluate(CanonicalValues values, String expression, @Nullable Object a,
			@Nullable Object b) {
		Map<String, @Nullable Object> variables = new HashMap<>();
		variables.put("a", a);
		variables.put("b", b);
		return KeyExpression.parse(expression, Set.of("a", "b"), values).evaluate(variables);
	}

	record Account(@Nullable String number) {
	}

	record Named(Account account) {
	}

	interface EventType {

	}

	enum OrderEvent implements EventType {

		CREATED

	}

	enum InvoiceEvent implements EventType {

		CREATED

	}

	enum Plain {

		CREATED

	}

	static final class Iban implements CharSequence {

		private final String value;

		Iban(String value) {
			this.value = value;
		}

		@Override
		public int length() {
			return this.value.length();
		}

		@Override
		public char charAt(int index) {
			return this.value.charAt(index);
		}

		@Override
		public CharSequence subSequence(int start, int end) {
			return this.value.subSequence(start, end);
		}

		/**
		 * Masked, for logs.
		 */
		@Override
		public String toString() {
			return "**";
		}

	}

}
