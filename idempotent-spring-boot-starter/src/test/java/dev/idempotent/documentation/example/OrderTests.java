package dev.idempotent.documentation.example;

import java.util.UUID;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.http.MediaType;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

import static org.assertj.core.api.Assertions.assertThat;

@SpringBootTest(properties = { "idempotent.store=jdbc", "idempotent.stream.enabled=false",
		"idempotent.outbox.relay.enabled=false" })
@AutoConfigureMockMvc
class OrderTests {

	@Autowired
	MockMvcTester mvc;

	@Autowired
	JdbcClient jdbc;

	@Test
	void placesOneOrderForTwoRequestsWithOneKey() {
		String key = UUID.randomUUID().toString();
		assertThat(place(key, "coupon")).hasStatusOk().doesNotContainHeader("Idempotent-Replayed");
		assertThat(place(key, "coupon")).hasStatusOk().containsHeader("Idempotent-Replayed");
		assertThat(place(key, "book")).hasStatus(422);
		assertThat(this.jdbc.sql("select item from orders").query(String.class).list()).containsExactly("coupon");
		assertThat(this.jdbc.sql("select type from outbox_ordered").query(String.class).list())
			.containsExactly("order.created");
	}

	private MvcTestResult place(String key, String item) {
		return this.mvc.post()
			.uri("/orders")
			.header("Idempotency-Key", key)
			.contentType(MediaType.APPLICATION_JSON)
			.content("{\"item\":\"%s\",\"amount\":1}".formatted(item))
			.exchange();
	}

}
