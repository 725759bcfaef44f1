package dev.idempotent.idempotency.canonical;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.util.StringUtils;
import tools.jackson.core.JsonPointer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link CanonicalJson}.
 */
class CanonicalJsonTests {

	private static final int NUMBERS_PER_SEED = 1_000;

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

	@Test
	void readsNestingUpTo128Levels() {
		String deepest = "[".repeat(128) + "]".repeat(128);
		assertThat(canonical(deepest)).isEqualTo(deepest);
		assertThat(canonical("[" + deepest + "]")).isNull();
	}

	@ParameterizedTest
	@ValueSource(strings = { "[", "{\"a\":", "[{\"a\":" })
	void isNullFor200000Levels(String level) {
		assertThat(canonical(level.repeat(200_000))).isNull();
	}

	@Test
	void readsNumbersUpTo1000Digits() {
		assertThat(canonical("1".repeat(1_000))).isEqualTo("1." + "1".repeat(999) + "e+999");
		assertThat(canonical("1".repeat(1_001))).isNull();
		assertThat(canonical("1e" + "1".repeat(1_000_000))).isNull();
	}

	@Test
	void readsAMegabyteOfEmptyObjects() {
		String objects = "{}" + ",{}".repeat(350_000);
		assertThat(canonical("[" + objects + "]")).isEqualTo("[" + objects + "]");
		assertThat(canonical(objects)).isNull();
	}

	@Test
	void sortsAMegabyteOfMembersInReverseOrder() {
		assertThat(canonical(members(IntStream.iterate(99_999, (i) -> i >= 0, (i) -> i - 1))))
			.isEqualTo(members(IntStream.range(0, 100_000)));
	}

	@Test
	void readsNamesAsLongAsStrings() {
		String name = "\"" + "n".repeat(1_000_000) + "\"";
		assertThat(canonical("{%s: %s}".formatted(name, name))).isEqualTo("{%s:%s}".formatted(name, name));
	}

	@Test
	void readsNamesThatCollideInTheSymbolTableOfTheParser() {
		String names = IntStream.range(0, 1 << 12)
			.mapToObj((bits) -> IntStream.range(0, 12)
				.mapToObj((bit) -> ((bits >> bit & 1) == 0) ? "Ab" : "BA")
				.collect(Collectors.joining("", "\"", "\":0")))
			.sorted()
			.collect(Collectors.joining(",", "{", "}"));
		assertThat(canonical(names)).isEqualTo(names);
	}

	/**
	 * Documents based on the test data of the authors of the RFC: arrays and structures
	 * are identical, the others test the same rules.
	 *
	 * @see <a href="https://github.com/cyberphone/json-canonicalization">the data</a>
	 */
	@ParameterizedTest(name = "{0}")
	@CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
			arrays     | [ 56, { "d": true, "10": null, "1": [ ] } ]                     \
			| [56,{"1":[],"10":null,"d":true}]
			french     | { "peach": "This sorting order", "p\u00e9ch\u00e9": "is wrong according to French", \
			"p\u00eache": "but canonicalization MUST", "sin":   "ignore locale" } \
			| {"peach":"This sorting order","p\u00e9ch\u00e9":"is wrong according to French",\
			"p\u00eache":"but canonicalization MUST","sin":"ignore locale"}
			structures | { "1": {"f": {"f": "hi","F": 5} ,"\\n": 56.0}, "10": { }, "": "empty", "a": { }, \
			"111": [ { } ], "A": { } } \
			| {"":"empty","1":{"\\n":56,"f":{"F":5,"f":"hi"}},"10":{},"111":[{}],"A":{},"a":{}}
			unicode    | { "Unnormalized Unicode":"A\u030a" } \
			| {"Unnormalized Unicode":"A\u030a"}
			weird      | { "\\u20ac": "Euro Sign", "\\r": "Carriage Return", "\\u000a": "Newline", "1": "One", \
			"\\u0080": "Control\u007f", "\\ud83d\\ude02": "Smiley", "\\u00f6": "Latin Small Letter O With Diaeresis", \
			"\\ufb33": "Hebrew Letter Dalet With Dagesh", "</script>": "Browser Challenge" } \
			| {"\\n":"Newline","\\r":"Carriage Return","1":"One","</script>":"Browser Challenge",\
			"\u0080":"Control\u007f","\u00f6":"Latin Small Letter O With Diaeresis","\u20ac":"Euro Sign",\
			"\ud83d\ude02":"Smiley","\ufb33":"Hebrew Letter Dalet With Dagesh"}
			""")
	void agreesWithTheTestDataOfRfc8785(String name, String input, String output) {
		assertThat(CanonicalJson.of(input.getBytes(StandardCharsets.UTF_8))).as(name).isEqualTo(output);
	}

	@ParameterizedTest
	@CsvSource(textBlock = """
			0000000000000000, 0
			0000000000000001, 5e-324
			8000000000000001, -5e-324
			7fefffffffffffff, 1.7976931348623157e+308
			ffefffffffffffff, -1.7976931348623157e+308
			4340000000000000, 9007199254740992
			c340000000000000, -9007199254740992
			4430000000000000, 295147905179352830000
			44b52d02c7e14af5, 9.999999999999997e+22
			44b52d02c7e14af6, 1e+23
			44b52d02c7e14af7, 1.0000000000000001e+23
			444b1ae4d6e2ef4e, 999999999999999700000
			444b1ae4d6e2ef4f, 999999999999999900000
			444b1ae4d6e2ef50, 1e+21
			3eb0c6f7a0b5ed8c, 9.999999999999997e-7
			3eb0c6f7a0b5ed8d, 0.000001
			41b3de4355555553, 333333333.3333332
			41b3de4355555554, 333333333.33333325
			41b3de4355555555, 333333333.3333333
			41b3de4355555556, 333333333.3333334
			41b3de4355555557, 333333333.33333343
			becbf647612f3696, -0.0000033333333333333333
			43143ff3c1cb0959, 1424953923781206.2
			""")
	void agreesWithTheNumbersOfRfc8785(String bits, String expected) {
		assertThat(Double.doubleToLongBits(Double.parseDouble(expected))).isEqualTo(Long.parseUnsignedLong(bits, 16));
		BigDecimal value = new BigDecimal(expected);
		assertThat(numeral(expected)).isEqualTo(expected);
		assertThat(numeral(value.toPlainString())).isEqualTo(expected);
		assertThat(numeral(value.unscaledValue().multiply(BigInteger.valueOf(100)) + "E" + (-value.scale() - 2)))
			.isEqualTo(expected);
	}

	@ParameterizedTest
	@CsvSource(textBlock = """
			-0, 0
			-0.00e99999999999999999999, 0
			1.0, 1
			10e-1, 1
			0.001e+0003, 1
			-12.50, -12.5
			123456789012345678901, 123456789012345678901
			1234567890123456789012, 1.234567890123456789012e+21
			0.0000001, 1e-7
			0.00000123, 0.00000123
			9007199254740993, 9007199254740993
			1e999999999, 1e+999999999
			10E-1000000000, 1e-999999999
			-1e-99999999999999999999, -1e-99999999999999999999
			12.3e99999999999999999999, 1.23e+100000000000000000000
			""")
	void keepsTheExactValue(String number, String expected) {
		assertThat(numeral(number)).isEqualTo(expected);
		assertThat(numeral(expected)).isEqualTo(expected);
	}

	@ParameterizedTest
	@ValueSource(longs = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 })
	void distinguishesNumbersIfAndOnlyIfTheirValuesDiffer(long seed) {
		RandomJson random = new RandomJson(seed);
		for (int i = 0; i < NUMBERS_PER_SEED; i++) {
			BigDecimal one = random.number();
			BigDecimal other = random.similarNumber(one);
			String text = random.spelling(one);
			assertThat(new BigDecimal(numeral(text))).as(text).isEqualByComparingTo(one);
			assertThat(numeral(text).equals(numeral(random.spelling(other)))).as("%s and %s", one, other)
				.isEqualTo(one.compareTo(other) == 0);
		}
	}

	@ParameterizedTest
	@CsvSource(quoteCharacter = '`', delimiter = '|', textBlock = """
			/a       | {"a":1,"b":2}                          | {"b":2}
			/a       | {"b":{"a":1},"c":[{"a":2}]}            | {"b":{"a":1},"c":[{"a":2}]}
			/a       | {"a":{"a":[{}]},"b":[]}                | {"b":[]}
			/a       | ["a",{"a":1}]                          | ["a",{"a":1}]
			/a       | "a"                                    | "a"
			/a/b     | {"a":{"b":1,"c":{"b":2}},"b":3}        | {"a":{"c":{"b":2}},"b":3}
			/a/b     | {"a":[{"b":1}],"c":{"b":1}}            | {"a":[{"b":1}],"c":{"b":1}}
			/a/b/c   | {"a":{"c":1,"b":{"c":2}},"b":{"c":3}}  | {"a":{"b":{},"c":1},"b":{"c":3}}
			/a/1/b   | {"a":[{"b":1},{"b":2},{"b":3}]}        | {"a":[{"b":1},{},{"b":3}]}
			/a/1/b   | {"a":[[],{"b":2},3],"b":[0,{"b":1}]}   | {"a":[[],{},3],"b":[0,{"b":1}]}
			/a/1/b   | {"a":{"1":{"b":2}}}                    | {"a":{"1":{}}}
			/a/01/b  | {"a":[{"b":1},{"b":2}]}                | {"a":[{"b":1},{"b":2}]}
			/0/1/b   | [[0,{"b":1}],[0,{"b":1}]]              | [[0,{}],[0,{"b":1}]]
			/a/0     | {"a":["b"]}                            | {"a":["b"]}
			/a~1b/~0 | {"a/b":{"~":1},"a":{"b":{"~":2}}}      | {"a":{"b":{"~":2}},"a/b":{}}
			/a//b    | {"a":{"":{"b":1},"b":2}}               | {"a":{"":{},"b":2}}
			/a /a/b  | {"a":{"b":1},"b":2}                    | {"b":2}
			/a/b /a/c /d | {"a":{"b":1,"c":2,"d":3},"d":4}    | {"a":{"d":3}}
			""")
	void omitsMembersAtTheirPointers(String pointers, String json, String expected) {
		assertThat(without(pointers, json)).isEqualTo(expected);
	}

	private static @Nullable String canonical(String json) {
		return CanonicalJson.of(json.getBytes(StandardCharsets.UTF_8));
	}

	private static String members(IntStream numbers) {
		return numbers.mapToObj("\"%05d\":1"::formatted).collect(Collectors.joining(",", "{", "}"));
	}

	private static String numeral(String number) {
		return Objects.requireNonNull(CanonicalJson.of(number.getBytes(StandardCharsets.UTF_8)), number);
	}

	private static @Nullable String without(String pointers, String json) {
		byte[] canonical = CanonicalJson
			.without(Arrays.stream(StringUtils.delimitedListToStringArray(pointers, " "))
				.map(JsonPointer::compile)
				.collect(Collectors.toSet()))
			.encode(json.getBytes(StandardCharsets.UTF_8));
		return (canonical != null) ? new String(canonical, StandardCharsets.UTF_8) : null;
	}

}
