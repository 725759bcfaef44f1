package dev.idempotent.documentation.example;

import java.util.UUID;

import dev.idempotent.autoconfigure.test.AutoConfigureIdempotency;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.test.OutboxEvents;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MockMvcTester.MockMvcRequestBuilder;
import org.springframework.transaction.annotation.Transactional;

import static dev.idempotent.test.IdempotencyAssertions.replays;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

@SpringBootTest
@AutoConfigureMockMvc
@AutoConfigureIdempotency
@Transactional
class PaymentTests {

	@Autowired
	MockMvcTester mvc;

	@Autowired
	OutboxEvents events;

	@Test
	void announcesAPaymentOnce() {
		assertThat(replays(pay(100))).hasStatus(HttpStatus.CREATED);
		assertThat(this.events.payloads(Receipt.class)).singleElement()
			.returns("B-17", Receipt::booking)
			.returns(100, Receipt::amount);
		assertThat(this.events).extracting(OutboxEvent::type, OutboxEvent::topic, OutboxEvent::key)
			.containsExactly(tuple("payment.captured", "redis-stream:payments", "B-17"));
	}

	@Test
	void refusesAnotherAmountUnderTheKeyOfAPayment() {
		String key = UUID.randomUUID().toString();
		assertThat(pay(100).header("Idempotency-Key", key)).hasStatus(HttpStatus.CREATED);
		assertThat(pay(999).header("Idempotency-Key", key)).hasStatus(HttpStatus.UNPROCESSABLE_CONTENT);
		assertThat(this.events.payloads(Receipt.class)).hasSize(1);
	}

	private MockMvcRequestBuilder pay(int amount) {
		return this.mvc.post()
			.uri("/payments")
			.contentType(MediaType.APPLICATION_JSON)
			.content("{\"booking\":\"B-17\",\"amount\":%d}".formatted(amount));
	}

}
