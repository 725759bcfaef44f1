package dev.idempotent.sample.page;

import java.io.IOException;
import java.util.List;

import dev.idempotent.sample.ShopTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
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
	void saysWhatToDoWhileNothingIsSent() {
		this.page.awaitTexts("#redis-state", (texts) -> texts.get(0).startsWith("Available"));
		assertThat(this.page.texts("#sent, #made")).containsExactly("0", "0");
		assertThat(this.page.texts("#sentence").get(0)).startsWith("Nothing sent yet.");
		assertThat(List.of("no-requests", "no-answers", "no-orders", "no-events")).noneMatch(this.page::isHidden);
		assertThat(List.of("orders-table", "events-table")).allMatch(this.page::isHidden);
		assertThat(this.page.texts(".verdict")).containsOnly("Not tried yet.");
		assertThat(this.page.texts("#legend b")).containsExactly("Ran", "Replayed", "Waited", "In progress",
				"Mismatched", "Refused", "Failed", "Lost");
	}

	@Test
	void countsRequestsBesideOrders() throws IOException {
		this.page.placeOrder("1 request was sent; 1 order was made.");
		this.page.placeOrder("2 requests were sent; 1 order was made; 1 got the stored response.");
		this.page.placeOrder("3 requests were sent; 1 order was made; 2 got the stored response.");
		assertThat(this.page.texts("#sent, #made")).containsExactly("3", "1");
		assertThat(this.page.texts("#reason").get(0)).contains("did not run again");
		assertThat(this.page.awaitOutcomes(3)).containsExactly("201 Replayed", "201 Replayed", "201 Ran");
		assertThat(this.page.texts("#answers .body").stream().distinct()).hasSize(1);
	}

	@Test
	void startsANewOrderWithANewKey() throws IOException {
		List<String> key = this.page.texts("#key");
		this.page.placeOrder("1 request was sent; 1 order was made.");
		assertThat(this.page.texts("#key")).isEqualTo(key);
		this.page.click("new-order");
		assertThat(this.page.texts("#key")).isNotEqualTo(key);
		this.page.awaitTexts("#sentence", "A new order has a new key. Nothing sent with it yet.");
		this.page.placeOrder("1 request was sent; 1 order was made.");
		assertThat(this.page.texts("#sent, #made, #made-label")).containsExactlyInAnyOrder("2", "2",
				"orders made, with 2 keys");
		this.page.awaitTexts("#orders .tag", "CREATED", "CREATED");
	}

	@Test
	void paysTheLastOrderOnce() throws IOException {
		assertThat(this.page.isDisabled("pay")).isTrue();
		this.page.placeOrder("1 request was sent; 1 order was made.");
		this.page.awaitTexts("#last-order", (texts) -> texts.get(0).startsWith("Order "));
		this.page.select("method", "declined");
		this.page.click("pay");
		this.page.awaitOutcomes(2);
		this.page.select("method", "card");
		this.page.click("pay");
		this.page.awaitOutcomes(3);
		this.page.click("pay");
		assertThat(this.page.awaitOutcomes(4)).containsExactly("409 Refused", "200 Ran", "402 Refused", "201 Ran");
		this.page.awaitTexts("#orders .tag", "PAID");
		this.page.awaitTexts("#events tr td:nth-child(2)", "order.paid", "order.created");
	}

	@Test
	void showsTwoMovesThatRace() throws IOException {
		this.page.click("start-race");
		this.page.awaitTexts("#race-result",
				(texts) -> texts.get(0).matches("Order .{8} in PostgreSQL: (PAID|CANCELLED)"));
		boolean paid = this.page.texts("#race-result").get(0).endsWith("PAID");
		String applied = "✓ 200: this request has moved the order";
		assertThat(this.page.texts("#race .verdict"))
			.isEqualTo(paid ? List.of(applied, "409: the order was PAID before")
					: List.of("409: the order was CANCELLED before", applied));
		assertThat(this.page.awaitOutcomes(2)).containsExactlyInAnyOrder("200 Ran", "409 Refused");
	}

	@Test
	void showsHandlersThatFailTwice() throws IOException {
		this.page.click("ship");
		this.page.awaitTexts("#shipment .verdict", "✓ 3 attempts, 1 parcel", "✓ 3 attempts, 1 credit");
	}

	@Test
	void takesOneFeedbackForADoubleClickWithoutKeys() throws IOException {
		this.page.click("give-twice");
		assertThat(this.page.awaitOutcomes(2)).containsOnlyOnce("202 Ran")
			.containsAnyOf("202 Replayed", "409 In progress");
	}

	@Test
	void countsTheRowsOfTheDatabase() {
		this.page.awaitTexts("#stats dd",
				(texts) -> texts.size() == 7 && texts.stream().allMatch((text) -> text.matches("\\d+")));
	}

	@Test
	void escapesText() throws IOException {
		this.page.type("item", "<b id='bold'>10 %</b> & more");
		this.page.click("place");
		this.page.awaitTexts("#orders td", (texts) -> texts.contains("<b id='bold'>10 %</b> & more"));
		assertThat(this.page.has("#bold")).isFalse();
	}

}
