package dev.idempotent.idempotency.client;

import java.net.URI;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link TargetLocation}.
 */
class TargetLocationTests {

	@ParameterizedTest
	@CsvSource({ "pay.example.com, http://pay.example.com/charges", "pay.example.com, https://pay.example.com",
			"pay.example.com, https://pay.example.com:8443/", "pay.example.com, https://PAY.Example.COM/charges",
			"PAY.example.com, HTTPS://pay.example.com/charges?a=b", "pay.example.com, https://user@pay.example.com/",
			"' pay.example.com ', https://pay.example.com/", "pay.example.com/, https://pay.example.com/charges",
			"pay.example.com:8443, http://pay.example.com:8443/", "pay.example.com:443, https://pay.example.com/",
			"https://pay.example.com, https://pay.example.com:443/", "http://pay.example.com, http://pay.example.com/",
			"http://pay.example.com:8080/v1, http://pay.example.com:8080/v1/charges",
			"pay.example.com/v1, https://pay.example.com/v1", "pay.example.com/v1, https://pay.example.com/v1/",
			"pay.example.com/v1/, https://pay.example.com/v1/charges", "localhost, http://localhost:8080/",
			"127.0.0.1:8080, http://127.0.0.1:8080/", "[::1]:8080, http://[::1]:8080/",
			"pay_service:8080, http://pay_service:8080/charges", "pay_service, http://ada@PAY_service:8080",
			"http://pay_service, http://pay_service/", "pay_service/v1, http://pay_service/v1/charges" })
	void matchesTheUrlsItNames(String target, String url) {
		assertThat(matches(target, url)).isTrue();
	}

	@ParameterizedTest
	@CsvSource({ "pay.example.com, https://pay.example.com.evil.org/", "pay.example.com, https://evil-pay.example.com/",
			"pay.example.com, https://evil.pay.example.com/", "pay.example.com, https://example.com/",
			"pay.example.com, https://pay.example.com@evil.org/",
			"pay.example.com, https://pay.example.com:443@evil.org/",
			"pay.example.com, https://evil.org/pay.example.com", "pay.example.com, https://evil.org?pay.example.com",
			"pay.example.com, https://evil.org#pay.example.com", "pay.example.com, https://evil.org#@pay.example.com/",
			"pay.example.com, ftp://pay.example.com/", "pay.example.com, /charges",
			"pay.example.com, mailto:pay.example.com", "pay.example.com:8443, https://pay.example.com/",
			"pay.example.com:443, http://pay.example.com/", "https://pay.example.com, http://pay.example.com/",
			"https://pay.example.com, https://pay.example.com:8443/",
			"https://pay.example.com, http://pay.example.com:443/", "pay.example.com/v1, https://pay.example.com/v10",
			"pay.example.com/v1, https://pay.example.com/", "pay.example.com/v1, https://pay.example.com/v1/../admin",
			"pay.example.com/v1, https://pay.example.com/V1", "pay.example.com/v1, https://pay.example.com/?/v1",
			"pay.example.com/v1, https://pay.example.com:1/a/v1" })
	void matchesNoOtherUrl(String target, String url) {
		assertThat(matches(target, url)).isFalse();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "/", "/v1", ":8080", "https://", "https:///v1", "ftp://pay.example.com",
			"pay.example.com:", "https://pay.example.com:/v1", "pay.example.com:0", "pay.example.com:65536",
			"pay.example.com:http", "pay.example.com:-1", "*.example.com", "pay example.com", "pay.example.com?a=b",
			"pay.example.com#a", "pay.example.com/v1?a", "user@pay.example.com", "pay.example.com/a/../b",
			"pay.example.com//a", "p\u00e4y.example.com", "pay_service_", "::1", "https://https://pay.example.com" })
	void refusesAMalformedLocation(String target) {
		assertThatIllegalArgumentException().isThrownBy(() -> TargetLocation.parse(target))
			.withMessageStartingWith("is not of the form [scheme://]host[:port][/path]");
	}

	@Test
	void keepsTheLocationOutOfTheMessage() {
		assertThatIllegalArgumentException().isThrownBy(() -> TargetLocation.parse("https://ada:secret@example.com"))
			.withMessageNotContaining("secret")
			.withNoCause();
		assertThatIllegalArgumentException().isThrownBy(() -> TargetLocation.parse("ada:secret@@example.com"))
			.withMessageNotContaining("secret")
			.withNoCause();
	}

	private static boolean matches(String target, String url) {
		TargetLocation.Url called = TargetLocation.normalize(URI.create(url));
		return called != null && TargetLocation.parse(target).matches(called);
	}

}
