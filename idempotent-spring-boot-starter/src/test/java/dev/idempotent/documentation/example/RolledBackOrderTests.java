package dev.idempotent.documentation.example;

import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.http.MediaType;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.context.transaction.AfterTransaction;
import org.springframework.test.context.transaction.BeforeTransaction;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What docs/testing-your-application.md says of a test that Spring rolls back.
 */
@SpringBootTest(properties = { "idempotent.store=jdbc", "idempotent.stream.enabled=false",
		"idempotent.outbox.relay.enabled=false" })
@AutoConfigureMockMvc
@Transactional
class RolledBackOrderTests {

	@Autowired
	MockMvcTester mvc;

	@Autowired
	JdbcClient jdbc;

	private List<Long> before = List.of();

	@BeforeTransaction
	void countRows() {
		this.before = rows();
	}

	@Test
	void seesTheWorkAndTheReplayButNoEvent() {
		assertThat(place()).hasStatusOk().doesNotContainHeader("Idempotent-Replayed");
		assertThat(place()).hasStatusOk().containsHeader("Idempotent-Replayed");
		assertThat(rows()).containsExactly(this.before.get(0) + 1, this.before.get(1) + 1, this.before.get(2));
	}

	@AfterTransaction
	void leavesNothingBehind() {
		assertThat(rows()).isEqualTo(this.before);
	}

	private List<Long> rows() {
		return Stream.of("orders", "idempotency_record", "outbox_event")
			.map((table) -> this.jdbc.sql("select count(*) from " + table).query(Long.class).single())
			.toList();
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
