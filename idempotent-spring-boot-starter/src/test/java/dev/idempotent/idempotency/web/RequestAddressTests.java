package dev.idempotent.idempotency.web;

import java.net.InetAddress;
import java.net.UnknownHostException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.mock.web.MockHttpServletRequest;

import static org.assertj.core.api.Assertions.assertThat;

class RequestAddressTests {

	private final MockHttpServletRequest request = new MockHttpServletRequest("POST", "/orders");

	@ParameterizedTest
	@ValueSource(strings = { "", "localhost", "instance-7", "10.0.0.1", "127.0.0.1", "::1", "[2001:db8::1]" })
	void hasNoHostIfItIsThatOfAnInstance(String name) {
		this.request.setServerName(name);
		assertThat(RequestAddress.host(this.request)).isEmpty();
		this.request.addHeader("X-Forwarded-Host", name + ":8080");
		assertThat(RequestAddress.host(this.request)).isEmpty();
	}

	@Test
	void hasNoHostIfItIsTheNameOfThisMachine() throws UnknownHostException {
		this.request.setServerName(InetAddress.getLocalHost().getCanonicalHostName());
		assertThat(RequestAddress.host(this.request)).isEmpty();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			Forwarded        | host=A.example.com                          | a.example.com
			Forwarded        | for=10.0.0.1;proto=https;HOST="a.b.io:8443" | a.b.io
			Forwarded        | for=x;host=a.example.com, host=b.io         | a.example.com
			Forwarded        | for=10.0.0.1, for=x;host=a.example.com      | a.example.com
			Forwarded        | for=10.0.0.1                                | www.example.com
			Forwarded        | xhost=a.example.com                         | www.example.com
			X-Forwarded-Host | a.example.com, b.example.com                | a.example.com
			X-Forwarded-Host | a.example.com.                              | a.example.com
			""")
	void hasTheFirstHostThatWasForwarded(String header, String value, String host) {
		this.request.setServerName("WWW.example.com");
		this.request.addHeader(header, value);
		assertThat(RequestAddress.host(this.request)).isEqualTo(host);
	}

	@ParameterizedTest
	@CsvSource({ "'', /orders/1, /orders/1", "/, /orders/1, /orders/1", "/shop, /shop/orders/1, /orders/1",
			"/shop, /shop, ''", "/shop, /sh%6Fp/orders;x=1, /orders;x=1", "/sh%6Fp, /shop/orders, /orders",
			"/a/b, /a/%62/orders, /orders", "/a/b, /%61/b, ''" })
	void hasThePathWithinTheApplication(String context, String uri, String path) {
		this.request.setContextPath(context);
		this.request.setRequestURI(uri);
		assertThat(RequestAddress.path(this.request)).isEqualTo(path);
	}

	@ParameterizedTest
	@CsvSource({ "/v1, /v1", "/v1/, /v1", "'/v1,/shop/', /v1/shop", "/, ''" })
	void hasThePrefixOfAGatewayBeforeTheContextPath(String forwarded, String prefix) {
		this.request.setContextPath("/context");
		assertThat(RequestAddress.prefix(this.request)).isEqualTo("/context");
		this.request.addHeader("X-Forwarded-Prefix", forwarded);
		assertThat(RequestAddress.prefix(this.request)).isEqualTo(prefix);
	}

}
