package dev.idempotent.idempotency.web;

import java.net.InetAddress;
import java.net.UnknownHostException;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
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
	}

	@ParameterizedTest
	@CsvSource({ "Shop:8080, shop", "localhost, localhost", "10.0.0.1:80, 10.0.0.1", "[2001:DB8::1]:80, 2001:db8::1",
			"www.example.com., www.example.com", "unknown, unknown" })
	void hasAnyHostAsSent(String sent, String host) {
		this.request.addHeader("Host", sent);
		assertThat(RequestAddress.hostAsSent(this.request)).isEqualTo(host);
	}

	@ParameterizedTest
	@CsvSource({ "Shop:8080, shop", "localhost, localhost", "10.0.0.1:80, 10.0.0.1", "[2001:DB8::1]:80, 2001:db8::1" })
	void hasAnyHostThatWasForwarded(String forwarded, String host) {
		this.request.addHeader("X-Forwarded-Host", forwarded);
		for (String name : new String[] { "instance-7", "10.0.0.2", "localhost" }) {
			this.request.setServerName(name);
			assertThat(RequestAddress.host(this.request)).isEqualTo(host);
			assertThat(RequestAddress.hostAsSent(this.request)).isEqualTo(host);
		}
	}

	@Test
	void hasTheHostThatAFilterHasApplied() {
		this.request.addHeader("Host", "a.example.com:8080");
		for (String applied : new String[] { "a.example.com", "unknown", "_hidden" }) {
			assertThat(RequestAddress.host(named(applied))).as(applied).isEqualTo("a.example.com");
		}
		assertThat(RequestAddress.host(named("gateway"))).isEqualTo("gateway,a.example.com");
		assertThat(RequestAddress.host(named("b.example.com"))).isEqualTo("b.example.com");
	}

	private HttpServletRequest named(String name) {
		return new HttpServletRequestWrapper(this.request) {

			@Override
			public String getServerName() {
				return name;
			}

		};
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
			X-Forwarded-Host | gateway                                     | gateway,www.example.com
			X-Forwarded-Host | 10.0.0.1:8080                               | 10.0.0.1,www.example.com
			X-Forwarded-Host | Unknown                                     | www.example.com
			X-Forwarded-Host | ''                                          | www.example.com
			X-Forwarded-Host | www.example.com                             | www.example.com
			Forwarded        | host=_hidden                                | www.example.com
			Forwarded        | host="_a.example.com"                       | www.example.com
			Forwarded        | host="[2001:db8::1]:80"                     | 2001:db8::1,www.example.com
			""")
	void hasTheFirstHostThatWasForwarded(String header, String value, String host) {
		this.request.setServerName("WWW.example.com");
		this.request.addHeader(header, value);
		assertThat(RequestAddress.host(this.request)).isEqualTo(host);
	}

	@Test
	void hasTheFirstHostOfAllLines() {
		this.request.addHeader("Forwarded", "for=203.0.113.1;proto=https");
		this.request.addHeader("Forwarded", "for=10.0.0.1;host=a.example.com");
		this.request.addHeader("Forwarded", "for=10.0.0.2;host=b.example.com");
		assertThat(RequestAddress.host(this.request)).isEqualTo("a.example.com");
	}

	@ParameterizedTest
	@CsvSource({ "host=gateway, 'gateway,a.example.com'", "host=b.example.com, b.example.com",
			"host=unknown, a.example.com" })
	void hasAllThatWereForwardedUpToADomainName(String forwarded, String host) {
		this.request.setServerName("www.example.com");
		this.request.addHeader("Forwarded", forwarded);
		this.request.addHeader("X-Forwarded-Host", "a.example.com");
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
