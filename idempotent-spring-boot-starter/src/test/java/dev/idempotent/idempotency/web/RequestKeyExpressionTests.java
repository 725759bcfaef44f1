package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.util.List;
import java.util.Map;

import dev.idempotent.idempotency.web.Problem.RefusedRequestException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.expression.ParseException;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.security.web.firewall.StrictHttpFirewall;
import org.springframework.web.servlet.HandlerMapping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class RequestKeyExpressionTests {

	private static final String BODY = """
			{"order":{"id":"o-1","lines":[{"sku":"s"}]},"amount":1.50,"big":12345678901234567890,"empty":"","none":null}""";

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`', commentCharacter = '~', textBlock = """
			#body.order.id                          | "o-1"
			#body['order']['lines'][0].sku          | "s"
			#body.amount                            | 1.5
			#body.big                               | 12345678901234567890
			{#body.order.id, #path.id}              | ["o-1","42"]
			#headers['x-request-id']                | "r-1"
			#headers['X-REQUEST-ID'].toUpperCase()  | "R-1"
			#headers.size()                         | 1
			#query.shop                             | "a b"
			#path.id                                | "42"
			#principal.name                         | "ada"
			#path.id + ':' + #body.order.id         | "42:o-1"
			""")
	void yieldsTheCanonicalJsonOfItsValue(String expression, String key) {
		assertThat(evaluate(expression)).isEqualTo(key);
	}

	@ParameterizedTest
	@ValueSource(strings = { "#body.missing", "#body.none", "#body.empty", "#body.order.id.nope", "#headers['none']",
			"#query.none", "#path.none", "'  '", "#body['order']['lines'][7]" })
	void yieldsNullIfTheRequestHasNoValue(String expression) {
		assertThat(evaluate(expression)).isNull();
	}

	@Test
	void refusesHalfOfACharacterAndNoEscapeThatLooksLikeIt() {
		RequestKeyExpression id = RequestKeyExpression.parse("{#body.id}");
		assertThatExceptionOfType(RefusedRequestException.class)
			.isThrownBy(() -> evaluate(id, "{\"id\":\"a\\n\\ud83d\"}"))
			.satisfies((ex) -> assertThat(ex.problem()).isEqualTo(Problem.REQUEST_MALFORMED));
		assertThat(evaluate(id, "{\"id\":\"\\ud83d\\ude00\"}")).isEqualTo("[\"\ud83d\ude00\"]");
		assertThat(evaluate(id, "{\"id\":\"\\\\ud83d\"}")).isEqualTo("[\"\\\\ud83d\"]");
	}

	@Test
	void yieldsNullForAnUnreadableBody() {
		assertThat(evaluate(RequestKeyExpression.parse("#body.id"), "{\"id\":")).isNull();
	}

	@Test
	void doesNotParseABodyThatItDoesNotUse() {
		assertThat(evaluate(RequestKeyExpression.parse("#path.id"), "no json")).isEqualTo("\"42\"");
	}

	@ParameterizedTest
	@ValueSource(strings = { "T(java.lang.Runtime).getRuntime()", "new java.io.File('x')", "@environment", "#fn()" })
	void reachesNoTypesConstructorsBeansOrFunctions(String expression) {
		assertThatIllegalArgumentException().isThrownBy(() -> RequestKeyExpression.parse(expression))
			.withMessageContaining("is not allowed, only the variables #");
	}

	@ParameterizedTest
	@ValueSource(strings = { "1e10000000", "1e-10000000", "1e1001", "-1e999999999", "1e2147483648", "1e-2147483649" })
	void refusesNumbersOfExtremeScaleWhereverTheyAre(String number) {
		for (String body : List.of("{\"id\":%s}", "{\"id\":1,\"lines\":[[{\"n\":%s}]]}", "%s")) {
			assertThatExceptionOfType(RefusedRequestException.class)
				.isThrownBy(() -> evaluate(RequestKeyExpression.parse("#body.id + #body.id"), body.formatted(number)))
				.satisfies((ex) -> assertThat(ex.problem()).isEqualTo(Problem.REQUEST_MALFORMED))
				.withMessageContaining("1000 digits");
		}
	}

	@ParameterizedTest
	@CsvSource({ "1e308, 2e+308", "4.9e-324, 9.8e-324", "1e1000, 2e+1000" })
	void acceptsEveryOtherNumber(String number, String doubled) {
		assertThat(evaluate(RequestKeyExpression.parse("#body.id + #body.id"), "{\"id\":%s}".formatted(number)))
			.isEqualTo(doubled);
	}

	@Test
	void acceptsAnyBodyThatItDoesNotUse() {
		assertThat(evaluate(RequestKeyExpression.parse("#path.id"), "{\"id\":1e10000000}")).isEqualTo("\"42\"");
	}

	@ParameterizedTest
	@CsvSource({ "#path.id, \"42\"", "#headers['X-Request-Id'], \"r-1\"", "#headers.get('X-Request-Id'), \"r-1\"" })
	void readsNoHeaderThatItDoesNotUse(String expression, String key) throws IOException {
		MockHttpServletRequest request = request();
		request.addHeader("X-Display-Name", "\u00c9mile");
		StrictHttpFirewall firewall = new StrictHttpFirewall();
		firewall.setAllowedHeaderValues((value) -> value.chars().allMatch((letter) -> letter < 0x7f));
		assertThat(RequestKeyExpression.parse(expression)
			.evaluate(BufferedRequest.read(firewall.getFirewalledRequest(request), 1024))).isEqualTo(key);
	}

	@Test
	void refusesUnknownVariables() {
		assertThatIllegalArgumentException().isThrownBy(() -> RequestKeyExpression.parse("#path.id + #boddy.id"))
			.withMessageContaining("#boddy")
			.withMessageContaining("body");
	}

	@ParameterizedTest
	@ValueSource(strings = { "#body.", "#body[", "a b" })
	void refusesMalformedExpressions(String expression) {
		assertThatExceptionOfType(ParseException.class).isThrownBy(() -> RequestKeyExpression.parse(expression));
	}

	private static @Nullable String evaluate(String expression) {
		return evaluate(RequestKeyExpression.parse(expression), BODY);
	}

	private static @Nullable String evaluate(RequestKeyExpression expression, String body) {
		MockHttpServletRequest request = request();
		request.setContent(body.getBytes(StandardCharsets.UTF_8));
		try {
			return expression.evaluate(BufferedRequest.read(request, 1024));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static MockHttpServletRequest request() {
		MockHttpServletRequest request = new MockHttpServletRequest("POST", "/orders/42");
		request.addHeader("X-Request-Id", "r-1");
		request.setQueryString("shop=a%20b&shop=c");
		request.setAttribute(HandlerMapping.URI_TEMPLATE_VARIABLES_ATTRIBUTE, Map.of("id", "42"));
		request.setUserPrincipal((Principal) () -> "ada");
		return request;
	}

}
