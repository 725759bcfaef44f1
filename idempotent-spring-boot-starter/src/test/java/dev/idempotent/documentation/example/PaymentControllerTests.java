package dev.idempotent.documentation.example;

import java.util.UUID;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MockMvcTester.MockMvcRequestBuilder;

import static dev.idempotent.test.IdempotencyAssertions.replays;
import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.then;

@WebMvcTest(PaymentController.class)
class PaymentControllerTests {

	private static final Payment PAYMENT = new Payment("B-17", 100);

	@Autowired
	MockMvcTester mvc;

	@MockitoBean
	Payments payments;

	@Test
	void capturesOnePaymentPerKey() {
		given(this.payments.capture(PAYMENT)).willReturn(new Receipt(UUID.randomUUID(), "B-17", 100));
		assertThat(replays(pay())).hasStatus(HttpStatus.CREATED);
		then(this.payments).should().capture(PAYMENT);
	}

	@Test
	void refusesAPaymentWithoutAKey() {
		assertThat(pay()).hasStatus(HttpStatus.BAD_REQUEST);
		then(this.payments).shouldHaveNoInteractions();
	}

	private MockMvcRequestBuilder pay() {
		return this.mvc.post()
			.uri("/payments")
			.contentType(MediaType.APPLICATION_JSON)
			.content("{\"booking\":\"B-17\",\"amount\":100}");
	}

}
