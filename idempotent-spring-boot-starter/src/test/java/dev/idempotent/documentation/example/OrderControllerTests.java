package dev.idempotent.documentation.example;

import dev.idempotent.autoconfigure.idempotency.IdempotencyAutoConfiguration;
import dev.idempotent.autoconfigure.idempotency.IdempotencyWebAutoConfiguration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcClientAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

import static org.assertj.core.api.Assertions.assertThat;

@WebMvcTest(OrderController.class)
@ImportAutoConfiguration({ IdempotencyAutoConfiguration.class, IdempotencyWebAutoConfiguration.class,
		DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
		JdbcTemplateAutoConfiguration.class, JdbcClientAutoConfiguration.class })
class OrderControllerTests {

	@Autowired
	MockMvcTester mvc;

	@Test
	void replaysTheFirstResponse() {
		assertThat(place()).hasStatusOk().doesNotContainHeader("Idempotent-Replayed");
		assertThat(place()).hasStatusOk().containsHeader("Idempotent-Replayed");
	}

	private MvcTestResult place() {
		return this.mvc.post()
			.uri("/orders")
			.header("Idempotency-Key", "one")
			.contentType(MediaType.APPLICATION_JSON)
			.content("{\"item\":\"coupon\",\"amount\":1}")
			.exchange();
	}

}
