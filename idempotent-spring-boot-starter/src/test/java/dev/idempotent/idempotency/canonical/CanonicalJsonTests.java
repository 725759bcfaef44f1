package dev.idempotent.idempotency.canonical;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link CanonicalJson}.
 */
class CanonicalJsonTests {

	@Test
	void agreesWithTheSampleOfRfc8785() {
		// The RFC rounds the first number to the nearest double.
		assertThat(canonical("""
				{
				  "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
				  "string": "\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\"\\/",
				  "literals": [null, true, false]
				}"""))
			.isEqualTo("{\"literals\":[null,true,false]," + "\"numbers\":[333333333.33333329,1e+30,4.5,0.002,1e-27],"
					+ "\"string\":\"\u20ac$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}");
	}

	@Test
	void sortsKeysAsInTheExampleOfRfc8785() {
		assertThat(canonical("""
				{
				  "\\u20ac": "Euro Sign",
				  "\\r": "Carriage Return",
				  "\\ufb33": "Hebrew Letter Dalet With Dagesh",
				  "1": "One",
				  "\\ud83d\\ude00": "Emoji: Grinning Face",
				  "\\u0080": "Control",
				  "\\u00f6": "Latin Small Letter O With Diaeresis"
				}""")).isEqualTo("{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\","
				+ "\"\u00f6\":\"Latin Small Letter O With Diaeresis\",\"\u20ac\":\"Euro Sign\","
				+ "\"\ud83d\ude00\":\"Emoji: Grinning Face\",\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}");
	}

	@ParameterizedTest
	@CsvSource(quoteCharacter = '`', delimiter = '|', textBlock = """
			null                                | null
			` \t\r\n true `                     | true
			-0                                  | 0
			""                                  | ""
			[ ]                                 | []
			{ }                                 | {}
			[ 1 , [ ] , { } , "," , "[" , 2 ]   | [1,[],{},",","[",2]
			{"b": 1, "a": {"d": [2], "c": 3}}   | {"a":{"c":3,"d":[2]},"b":1}
			{"b": {"a": 1}, "": {"d": 2}}       | {"":{"d":2},"b":{"a":1}}
			{"a b": 1, "a": 2, "B": 3}          | {"B":3,"a":2,"a b":1}
			[{"b": 1, "a": 2}, {"b": 3, "a":4}] | [{"a":2,"b":1},{"a":4,"b":3}]
			"\\u0041\\/\\u005C\\u0022"          | "A/\\\\\\""
			"\\u0008\\u0009\\u000A\\u000C\\u000D" | "\\b\\t\\n\\f\\r"
			"\\u0000\\u001F\\u007f\\u20AC"      | "\\u0000\\u001f\u007f\u20ac"
			"\\uD83D\\uDE00"                    | "\ud83d\ude00"
			"\\uDE00\\uD83D"                    | "\\ude00\\ud83d"
			"\\ud800\\ud83d\\uDE00\\udc00"     | "\\ud800\ud83d\ude00\\udc00"
			"\ufffd"                            | "\ufffd"
			"\\\\u\u0131"                       | "\\\\u\u0131"
			{"\\uD800": 1, "\\uDFFF!": 2}       | {"\\ud800":1,"\\udfff!":2}
			""")
	void writesEachValueInOneNotation(String json, String expected) {
		assertThat(canonical(json)).isEqualTo(expected);
		assertThat(canonical(expected)).isEqualTo(expected);
	}

	@ParameterizedTest
	@CsvSource(quoteCharacter = '`', delimiter = '|', textBlock = """
			9007199254740993 | 9007199254740992
			0.1              | 0.1000000000000000055511151231257827
			1                | "1"
			null             | "null"
			[1,2]            | [2,1]
			[[1],2]          | [1,[2]]
			[]               | {}
			{"a":"b"}        | ["a","b"]
			"\\ud800"        | "\\ud801"
			"\\ud800"        | "\\\\ud800"
			"\\ud800"        | "\\ufffd"
			"\u00e9"         | "e\u0301"
			""")
	void distinguishesDifferentValues(String one, String other) {
		assertThat(canonical(one)).isNotNull().isNotEqualTo(canonical(other));
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "{", "[", "]", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "1 2", "{},{}", "[]]",
			"{1:2}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{'a':1}", "tru", "nulls", "True", "NaN", "Infinity",
			"01", "-", "+1", ".5", "1.", "1e", "0x10", "\"", "\"\t\"", "\"\\x\"", "\"\\u12\"", "\"\\u00e\u0131\"",
			"/**/1", "#\n1", "\u00a01", "\u0000", "\ufeff{}" })
	void isNullForAnythingButOneValidDocument(String json) {
		assertThat(canonical(json)).isNull();
	}

	@ParameterizedTest
	@ValueSource(strings = { "22FF22", "22C322", "22C0AF22", "22EDA08022", "22F490808022", "22E282", "FEFF0031",
			"7B22FF223A317D", "7B22C0AF223A317D", "7B22EDA080223A317D", "22EFBFBDFF22" })
	void isNullForBrokenUtf8(String hex) {
		assertThat(CanonicalJson.of(HexFormat.of().parseHex(hex))).isNull();
	}

	@ParameterizedTest
	@ValueSource(strings = { "{\"a\":1,\"a\":1}", "{\"a\":1,\"b\":2,\"\\u0061\":3}", "[{\"b\":{\"/\":1,\"\\/\":1}}]",
			"{\"\\ud83d\\ude00\":1,\"\ud83d\ude00\":2}" })
	void isNullForADuplicateKeyInAnObject(String json) {
		assertThat(canonical(json)).isNull();
	}

	private static @Nullable String canonical(String json) {
		return CanonicalJson.of(json.getBytes(StandardCharsets.UTF_8));
	}

}
