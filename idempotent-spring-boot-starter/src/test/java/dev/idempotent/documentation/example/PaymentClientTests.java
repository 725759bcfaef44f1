package dev.idempotent.documentation.example;

import dev.idempotent.autoconfigure.test.AutoConfigureIdempotency;
import dev.idempotent.test.LostAnswers;
import dev.idempotent.test.OutboxEvents;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.web.client.RestClient;

import static org.assertj.core.api.Assertions.assertThat;

@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT)
@AutoConfigureIdempotency
class PaymentClientTests {

	@LocalServerPort
	int port;

	@Autowired
	OutboxEvents events;

	@Test
	void paysOnceAlthoughTwoAnswersAreLost() {
		LostAnswers answers = new LostAnswers();
		PaymentClient client = new PaymentClient(
				RestClient.builder().baseUrl("http://localhost:" + this.port).requestInterceptor(answers).build());
		answers.lose(2);
		Receipt receipt = client.pay(new Payment("B-17", 100));
		assertThat(answers.remaining()).isZero();
		assertThat(this.events.payloads(Receipt.class)).containsExactly(receipt);
	}

}
