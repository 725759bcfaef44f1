package dev.idempotent.documentation.example;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.context.annotation.Import;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

@SpringBootTest(properties = { "idempotent.stream.enabled=false",
		"spring.autoconfigure.exclude=org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration" })
@AutoConfigureMockMvc
@Import(RecordedEvents.class)
class DeliveredOrderTests {

	@Autowired
	MockMvcTester mvc;

	@Autowired
	RecordedEvents delivered;

	@Test
	void deliversAnEventForAnOrder() {
		this.mvc.post()
			.uri("/orders")
			.header("Idempotency-Key", "one")
			.contentType(MediaType.APPLICATION_JSON)
			.content("{\"item\":\"coupon\",\"amount\":1}")
			.exchange();
		await().untilAsserted(() -> assertThat(this.delivered.types()).containsExactly("order.created"));
	}

}
