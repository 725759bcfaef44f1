package dev.idempotent.idempotency.client;

import java.net.URI;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import dev.idempotent.idempotency.client.PropagationTargets.Resource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link PropagationTargets}.
 */
class PropagationTargetsTests {

	private static final PropagationTargets TARGETS = PropagationTargets
		.of(Map.of("payment-service", List.of("pay.example.com", "https://api.example.com/pay/"), "api",
				List.of("api.example.com", "api.example.com/pay/v2", "http://pay.example.com:8080")));

	@ParameterizedTest
	@CsvSource({ "http://pay.example.com/charges, paymentservice, /charges",
			"https://pay.example.com:8443/charges?a=b, paymentservice, /charges",
			"https://api.example.com/pay/charges, paymentservice, /charges",
			"https://api.example.com/pay, paymentservice, /", "https://api.example.com/pay/, paymentservice, /",
			"https://pay.example.com, paymentservice, /", "https://pay.example.com/a/../b, paymentservice, /b",
			"http://api.example.com/pay/charges, api, /pay/charges",
			"https://api.example.com/pay/v2/charges, api, /charges", "https://api.example.com/payments, api, /payments",
			"http://pay.example.com:8080/charges, api, /charges",
			"https://pay.example.com:8080/charges, paymentservice, /charges" })
	void findTheMostSpecificLocationOfAUrl(String url, String target, String path) {
		assertThat(TARGETS.find(URI.create(url))).isEqualTo(new Resource(target, path, false));
	}

	@ParameterizedTest
	@ValueSource(strings = { "https://example.com/pay", "/charges", "mailto:pay@pay.example.com" })
	void findNothingElse(String url) {
		assertThat(TARGETS.find(URI.create(url))).isNull();
	}

	@ParameterizedTest
	@ValueSource(strings = { "payment-service", "payment_service", "PAYMENTSERVICE", "paymentService" })
	void haveTheSameNameInEachSpelling(String name) {
		PropagationTargets targets = PropagationTargets.of(Map.of(name, List.of("pay.example.com")));
		assertThat(targets.find(URI.create("https://pay.example.com/charges")))
			.isEqualTo(new Resource("paymentservice", "/charges", false));
	}

	@Test
	void refuseTwoSpellingsOfOneName() {
		Map<String, List<String>> targets = new LinkedHashMap<>();
		targets.put("payment-service", List.of("pay.example.com"));
		targets.put("PAYMENTSERVICE", List.of("pay.example.org"));
		assertThatIllegalArgumentException().isThrownBy(() -> PropagationTargets.of(targets))
			.withMessage("payment-service and PAYMENTSERVICE are the same name");
	}

	@Test
	void refuseALocationOfTwoTargets() {
		Map<String, List<String>> targets = new LinkedHashMap<>();
		targets.put("pay", List.of("pay.example.com", "https://api.example.com"));
		targets.put("stock", List.of("HTTPS://api.example.com:443/"));
		assertThatIllegalArgumentException().isThrownBy(() -> PropagationTargets.of(targets))
			.withMessage("pay and stock have the same location");
	}

	@Test
	void refuseATargetWithoutALocation() {
		assertThatIllegalArgumentException().isThrownBy(() -> PropagationTargets.of(Map.of("pay", List.of())))
			.withMessage("pay has no location");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "0", "1-2", "pay.example.com", "https://ada:secret@pay.example.com", "p\u00e4y" })
	void refuseAnythingElseForAName(String name) {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> PropagationTargets.of(Map.of(name, List.of("pay.example.com"))))
			.withMessageStartingWith("the name of a target consists of ")
			.withMessageNotContaining("secret");
	}

	@Test
	void knowWhichTargetsHonourKeys() {
		PropagationTargets targets = PropagationTargets
			.of(Map.of("payment-service", List.of("pay.example.com"), "stock", List.of("stock.example.com")))
			.honouringKeys(List.of("PAYMENTSERVICE"));
		assertThat(targets.find(URI.create("https://pay.example.com/charges")))
			.isEqualTo(new Resource("paymentservice", "/charges", true));
		assertThat(targets.find(URI.create("https://stock.example.com/"))).isEqualTo(new Resource("stock", "/", false));
		assertThatIllegalArgumentException().isThrownBy(() -> targets.honouringKeys(List.of("shipping")))
			.withMessage("shipping is not the name of a target");
	}

	@Test
	void areEmptyWithoutAServiceThatGetsKeys() {
		assertThat(PropagationTargets.of(Map.of(), List.of("login.example.com")).isEmpty()).isTrue();
		assertThat(TARGETS.isEmpty()).isFalse();
	}

}
