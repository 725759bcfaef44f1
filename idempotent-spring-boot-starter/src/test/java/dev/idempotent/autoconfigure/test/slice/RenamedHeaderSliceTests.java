package dev.idempotent.autoconfigure.test.slice;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MockMvcTester.MockMvcRequestBuilder;

import static dev.idempotent.test.IdempotencyAssertions.replays;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests of {@code @WebMvcTest} with another header for keys.
 */
@WebMvcTest(properties = { "idempotent.namespace=slice", "idempotent.web.header=Request-Key" })
@DirtiesContext
class RenamedHeaderSliceTests {

	@Autowired
	private MockMvcTester mvc;

	@Test
	void sendsAKeyInTheHeaderOfTheApplication() {
		assertThat(replays(post())).hasStatusOk();
		assertThat(replays(post().header("Request-Key", "one"))).hasStatusOk();
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> replays(post().header("Request-Key", "one")))
			.withMessageContaining("the key has been used before");
	}

	private MockMvcRequestBuilder post() {
		return this.mvc.post().uri("/bookings").header("X-Tenant", "one");
	}

}
