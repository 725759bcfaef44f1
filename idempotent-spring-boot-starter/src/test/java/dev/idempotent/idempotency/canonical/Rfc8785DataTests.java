package dev.idempotent.idempotency.canonical;

import java.nio.charset.StandardCharsets;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Documents based on the test data of the authors of RFC 8785: arrays and structures are
 * identical, the others test the same rules. The one that rounds a number is part of
 * {@link CanonicalJsonTests}.
 *
 * @see <a href="https://github.com/cyberphone/json-canonicalization">the data</a>
 */
class Rfc8785DataTests {

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
	void isCanonicalizedByTheRulesOfTheRfc(String name, String input, String output) {
		assertThat(CanonicalJson.of(input.getBytes(StandardCharsets.UTF_8))).as(name).isEqualTo(output);
	}

}
