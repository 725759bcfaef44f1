package dev.idempotent.documentation.example;

import dev.idempotent.autoconfigure.test.AutoConfigureIdempotency;
import dev.idempotent.test.OutboxEvents;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.transaction.annotation.Transactional;

import static dev.idempotent.test.ToolAssertions.replaysCall;
import static org.assertj.core.api.Assertions.assertThat;

@SpringBootTest(properties = "idempotent.tool.single-caller=true")
@AutoConfigureIdempotency
@Transactional
class PaymentToolsTests {

	@Autowired
	PaymentTools tools;

	@Autowired
	OutboxEvents events;

	@Test
	void paysABookingOnceAlthoughTheAgentCallsTwice() {
		Receipt receipt = replaysCall(() -> this.tools.payBooking("B-17", 100));
		assertThat(this.events.payloads(Receipt.class)).containsExactly(receipt);
	}

}
