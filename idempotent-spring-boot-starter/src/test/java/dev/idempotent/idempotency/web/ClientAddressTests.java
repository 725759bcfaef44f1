package dev.idempotent.idempotency.web;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.mock.web.MockHttpServletRequest;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link ClientAddress}.
 */
class ClientAddressTests {

	private final MockHttpServletRequest request = new MockHttpServletRequest("POST", "/mcp");

	@Test
	void isEmptyWithoutHostAndPrefix() {
		assertThat(ClientAddress.of(this.request)).isEmpty();
	}

	@ParameterizedTest
	@CsvSource({ "/acme, /acme", "/%61cme, /acme", "'/%61cme,/shop/', /acme/shop", "/%c3%a9, /%C3%A9" })
	void hasOnePrefixInEachSpelling(String sent, String prefix) {
		this.request.addHeader("X-Forwarded-Prefix", sent);
		assertThat(ClientAddress.of(this.request)).isEqualTo("/" + prefix);
		assertThat(ClientAddress.prefix(this.request)).isEqualTo(prefix);
	}

	@Test
	void isTheSameForAContextPath() {
		this.request.setContextPath("/acm%65");
		assertThat(ClientAddress.of(this.request)).isEqualTo("//acme");
	}

	@Test
	void hasTheHost() {
		this.request.addHeader("X-Forwarded-Host", "acme.example.com");
		assertThat(ClientAddress.of(this.request)).isEqualTo("acme.example.com/");
	}

}
