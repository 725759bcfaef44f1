package dev.idempotent.sample.page;

import java.io.IOException;
import java.util.List;

import dev.idempotent.sample.ShopTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.web.server.LocalServerPort;

import static org.assertj.core.api.Assertions.assertThat;

@ShopTest
class PageIntegrationTests {

	private final ShopPage page;

	PageIntegrationTests(@LocalServerPort int port) throws IOException {
		this.page = new ShopPage(port);
	}

	@AfterEach
	void close() {
		this.page.close();
	}

	@Test
	void tellsOneStoryWithOneButtonForEachStep() {
		assertThat(this.page.texts(".step h2")).containsExactly("1 Click often", "2 Lose an answer",
				"3 Crash between the commit and the answer", "4 Two clicks that race", "5 Work after the commit",
				"6 A checkout over three services", "7 An agent that repeats itself");
		assertThat(this.page.texts(".step button.primary")).hasSize(7).isEqualTo(this.page.texts(".action button"));
		assertThat(this.page.texts(".step > .told[role=status][aria-live=polite] .proof")).hasSize(7);
	}

	@Test
	void claimsNothingBeforeTheFirstClick() {
		assertThat(this.page.texts(".proof")).noneMatch((text) -> text.matches(".*[✓✗0-9].*"));
		assertThat(this.page.texts(".verdict, .response, .mark")).allMatch(String::isEmpty);
	}

	@Test
	void keepsOneOrderHoweverOftenTheVisitorClicks() throws IOException {
		this.page.prove("place", "clicks", "1 request, 1 order in PostgreSQL. Now click again.");
		this.page.prove("place", "clicks",
				"✓ 2 requests with one key, 1 order in PostgreSQL: 1 ran, 1 got the stored response, byte for byte.");
		this.page.prove("place", "clicks",
				"✓ 3 requests with one key, 1 order in PostgreSQL: 1 ran, 2 got the stored response, byte for byte.");
		this.page.awaitMarks("clicks-lane", "ran", "replayed", "replayed");
		this.page.awaitResponses("clicks", "201 Ran", "201 Replayed", "201 Replayed");
		assertThat(this.page.texts("#clicks-responses .body")).hasSize(1);
	}

	@Test
	void startsANewOrderWithANewKey() throws IOException {
		List<String> key = this.page.texts("#key");
		this.page.prove("place", "clicks", "1 request, 1 order in PostgreSQL. Now click again.");
		assertThat(this.page.texts("#key")).isEqualTo(key);
		this.page.tryMore("clicks");
		this.page.prove("new-order", "clicks", "Click a few times.");
		assertThat(this.page.texts("#key")).isNotEqualTo(key);
		this.page.prove("place", "clicks", "1 request, 1 order in PostgreSQL. Now click again.");
	}

	@Test
	void lettersOfAMessageStayText() throws IOException {
		this.page.tryMore("clicks");
		this.page.type("item", "<b id='bold'>10 %</b> & more");
		this.page.click("place");
		this.page.awaitTexts("#clicks-responses .body", (texts) -> texts.toString().contains("<b id='bold'>10 %</b>"));
		assertThat(this.page.has("#bold")).isFalse();
	}

	@Test
	void takesOneFeedbackForADoubleClickWithoutKeys() throws IOException {
		this.page.tryMore("clicks");
		this.page.click("give-twice");
		this.page.awaitProof("feedback", (text) -> text.matches("✓ 2 requests without a key: 1 ran, "
				+ "1 (got the stored response.*|came during the run and must retry \\(409\\))\\."));
		assertThat(this.page.texts("#feedback-responses .outcome b")).hasSize(2).containsOnlyOnce("202 Ran");
	}

	@Test
	void tellsWhichOfTwoRequestsHasWon() throws IOException {
		this.page.click("start-race");
		this.page.awaitProof("race", (text) -> text.startsWith("✓"));
		assertThat(this.page.texts("#race-proof")).containsAnyOf(
				"✓ Pay won: PostgreSQL says PAID, and cancel got 409 with that status.",
				"✓ Cancel won: PostgreSQL says CANCELLED, and pay got 409 with that status.");
		assertThat(this.page.texts("#race-responses .outcome b")).containsExactlyInAnyOrder("200 Ran", "409 Refused");
	}

	@ParameterizedTest
	@CsvSource({ "card, 1 charge", "declined, 0 charges" })
	void chargesAtMostOnceForTwoPaymentsWithOneKey(String method, String charges) throws IOException {
		this.page.tryMore("race");
		this.page.select("method", method);
		this.page.click("pay-twice");
		this.page.awaitProof("payment", (text) -> text.startsWith("✓ 2 payments with one key: ")
				&& text.endsWith("; the gateway has " + charges + "."));
	}

	@Test
	void countsWhatHandlersHaveDoneAfterTwoFailures() throws IOException {
		this.page.prove("ship", "shipment", "✓ 3 attempts packed 1 parcel, 3 attempts credited 1 point, "
				+ "and the consumer has handled 3 events, each once.");
		assertThat(this.page.texts("#shipment .verdict")).containsExactly("3 attempts, 1 parcel",
				"3 attempts, 1 point");
		assertThat(this.page.texts("#events b")).containsExactly("order.created", "order.paid", "order.shipped");
	}

	@Test
	void countsWhatAnAgentThatRepeatsItselfHasBought() throws IOException {
		this.page.click("send-agent");
		this.page.awaitProof("agent", (text) -> text
			.matches("✓ \\d+ calls: 3 ran, 2 got the stored result, (\\d+ came during the run, )?"
					+ "1 asked for something else under a used key, [12] lost its answer\\. The customer has 1 order "
					+ "and 1 charge, the other one 1 order, which is CANCELLED\\."));
		assertThat(this.page.texts("#agent-responses .outcome b")).contains("Lost", "Replayed", "Ran", "Mismatched");
	}

}
