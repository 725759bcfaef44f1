package dev.idempotent.sample.page;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;

import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.ShopTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.web.server.LocalServerPort;

import static org.assertj.core.api.Assertions.assertThat;

@ShopTest
class TimelineIntegrationTests {

	private final ShopClient shop;

	private final ShopPage page;

	TimelineIntegrationTests(@LocalServerPort int port) throws IOException {
		this.shop = new ShopClient(port);
		this.page = new ShopPage(port);
	}

	@AfterEach
	void close() {
		this.page.close();
	}

	@Test
	void drawsRunsReplaysAndMismatches() throws IOException {
		this.page.placeOrder("1 request was sent; 1 order was made.");
		this.page.placeOrder("2 requests were sent; 1 order was made; 1 got the stored response.");
		this.page.click("change");
		this.page.awaitMarks("ran", "replayed", "mismatched");
		this.page.awaitTexts("#sentence", "3 requests were sent; 1 order was made; 1 got the stored response; "
				+ "1 was rejected for another body (422).");
		assertThat(this.page.texts("#lanes .mark text")).containsExactly("201", "201", "422");
		assertThat(this.page.texts("#lanes .lane-result")).containsExactly("3 requests → 1 order");
		assertThat(this.page.isHidden("no-requests")).isTrue();
	}

	@Test
	void drawsARepeatThatArrivesDuringTheRun() throws IOException {
		String[] headers = { "Idempotency-Key", this.page.texts("#key").get(0), "X-Chaos", "delay=20000" };
		String order = ShopClient.orderOf(this.page.user(), 1);
		// The first answer is the 409 of the one that does not run.
		CompletableFuture
			.anyOf(this.shop.postAsync("/api/orders", order, headers),
					this.shop.postAsync("/api/orders", order, headers))
			.join();
		this.page.placeOrder("1 request was sent; no order was made; 1 came while the first was running (409).");
		this.page.awaitMarks("in-progress");
	}

	@Test
	void drawsARepeatThatWaitsForTheAnswer() throws IOException {
		this.page.choose("handler", "/api/orders/wait");
		// Long enough for the second click on a busy machine.
		this.page.chooseAs("trouble", "delay=2000", "delay=7000");
		this.page.click("place");
		this.page.awaitMarks("waiting");
		this.page.click("place");
		this.page.awaitMarks("ran", "waited");
		this.page.awaitTexts("#sentence",
				"2 requests were sent; 1 order was made; 1 waited and got the same response.");
	}

	@Test
	void drawsAnAnswerThatIsLostAndFoundByARetry() throws IOException {
		this.page.choose("trouble", "lost");
		this.page.placeOrder("1 request was sent; 1 order was made; 1 response was lost.");
		this.page.awaitMarks("lost");
		this.page.choose("trouble", "");
		this.page.click("place");
		this.page.awaitMarks("lost", "replayed");
		assertThat(this.page.texts("#sent, #made")).containsExactly("2", "1");
	}

	@Test
	void drawsAFailureAndTheRunOfItsRetry() throws IOException {
		this.page.choose("trouble", "fail=before-commit");
		this.page.placeOrder("1 request was sent; no order was made; 1 failed.");
		this.page.choose("trouble", "");
		this.page.placeOrder("2 requests were sent; 1 order was made; 1 failed.");
		this.page.awaitMarks("failed", "ran");
	}

	@Test
	void marksADoubleOrderAsBad() throws IOException {
		this.page.choose("handler", "/api/orders/lease");
		this.page.choose("trouble", "fail=after-commit");
		this.page.placeOrder("1 request was sent; 1 order was made; 1 failed.");
		assertThat(this.page.has(".lane-result .bad")).isFalse();
		this.page.choose("trouble", "");
		this.page.placeOrder("2 requests were sent; 2 orders were made; 1 failed.");
		this.page.awaitTexts("#lanes .lane-result .bad", "✗ 2 orders");
		assertThat(this.page.has("#made-number.bad")).isTrue();
		assertThat(this.page.texts("#reason").get(0)).startsWith("LEASE keeps the key in Redis");
	}

	@Test
	void startsANewOrderForAnotherHandler() throws IOException {
		this.page.placeOrder("1 request was sent; 1 order was made.");
		this.page.choose("handler", "/api/orders/lease");
		this.page.placeOrder("1 request was sent; 1 order was made.");
		this.page.awaitTexts("#lanes .lane-name span", "LEASE", "TRANSACTION");
	}

	@Test
	void comparesTheGuaranteesAgainWithEachClick() throws IOException {
		for (int clicks = 1; clicks <= 2; clicks++) {
			this.page.click("compare");
			this.page.awaitTexts("#comparison .verdict", "✗ 2 orders for one key: ordered twice",
					"✓ 1 order, and the retry got its response");
			assertThat(this.page.has("#lease-verdict.bad")).isTrue();
			assertThat(this.page.texts("#lease-lane .mark text")).containsExactly("500", "201");
			assertThat(this.page.texts("#transaction-lane .mark.kind-ran text, #transaction-lane .kind-replayed text"))
				.containsExactly("201", "201");
			this.page.awaitOutcomes(4 * clicks);
		}
	}

}
