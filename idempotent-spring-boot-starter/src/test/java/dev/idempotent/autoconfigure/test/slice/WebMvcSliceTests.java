package dev.idempotent.autoconfigure.test.slice;

import java.util.UUID;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MockMvcTester.MockMvcRequestBuilder;

import static dev.idempotent.test.IdempotencyAssertions.replays;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of {@code @WebMvcTest} without any other annotation.
 */
@ExtendWith(OutputCaptureExtension.class)
@WebMvcTest(properties = "idempotent.namespace=slice")
@DirtiesContext
class WebMvcSliceTests {

	private final String key = UUID.randomUUID().toString();

	@Autowired
	private MockMvcTester mvc;

	@Autowired
	private BookingController controller;

	@Test
	void saysThatHandlersUnderTransactionHaveNone(CapturedOutput output) {
		assertThat(output.getAll().lines().filter((line) -> line.contains("without a database transaction")))
			.singleElement()
			.asString()
			.endsWith("Idempotency: 5 handlers under TRANSACTION (keys in memory, without a database transaction), "
					+ "2 handlers under LEASE (keys in memory)");
	}

	@Test
	void runsOnceAndReplays() {
		int before = this.controller.runs();
		assertThat(replays(post("/bookings"))).hasStatusOk().hasBodyTextEqualTo("run " + (before + 1));
		assertThat(this.controller.runs()).isEqualTo(before + 1);
	}

	@Test
	void refusesAMissingKeyAsInProduction() {
		assertThat(post("/bookings")).hasStatus(400)
			.bodyJson()
			.extractingPath("type")
			.isEqualTo("urn:problem-type:idempotency:key-missing");
	}

	@Test
	void includesTheScopeResolverOfTheApplication() {
		assertThat(post("/bookings").header("Idempotency-Key", this.key)).hasStatusOk();
		assertThat(this.mvc.post().uri("/bookings").header("X-Tenant", "two").header("Idempotency-Key", this.key))
			.hasStatusOk()
			.doesNotContainHeader("Idempotent-Replayed");
	}

	@Test
	void runsAFailedHandlerAgain() {
		int before = this.controller.runs();
		assertThat(post("/failures").header("Idempotency-Key", this.key)).hasStatus(500);
		assertThat(post("/failures").header("Idempotency-Key", this.key)).hasStatus(500);
		assertThat(this.controller.runs()).isEqualTo(before + 2);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/refusals", "/refusals/leased" })
	void replaysAnErrorOfAHandler(String path) {
		int before = this.controller.runs();
		assertThat(replays(post(path))).hasStatus(404);
		assertThat(this.controller.runs()).isEqualTo(before + 1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/seats", "/seats/leased" })
	void runsACorrectedRequestUnderTheKeyOfARejectedOne(String path) {
		assertThat(post(path).header("Idempotency-Key", this.key).param("row", "x")).hasStatus(400);
		assertThat(post(path).header("Idempotency-Key", this.key).param("row", "7")).hasStatusOk()
			.hasBodyTextEqualTo("row 7");
	}

	@Test
	void preventsAnActionThatWasCancelledBefore() {
		int before = this.controller.runs();
		assertThat(cancel()).hasStatus2xxSuccessful();
		assertThat(post("/bookings").header("Idempotency-Key", this.key)).hasStatus4xxClientError();
		assertThat(this.controller.runs()).isEqualTo(before);
	}

	@Test
	void cancelsAnActionThatHasRun() {
		assertThat(post("/bookings").header("Idempotency-Key", this.key)).hasStatusOk();
		assertThat(cancel()).hasStatusOk().hasBodyTextEqualTo("cancelled");
	}

	private MockMvcRequestBuilder cancel() {
		return post("/cancellations").header("Idempotency-Key", "undo-" + this.key)
			.header("Idempotency-Cancels", this.key + "; outcome=unknown");
	}

	private MockMvcRequestBuilder post(String path) {
		return this.mvc.post().uri(path).header("X-Tenant", "one");
	}

}
