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

	private static final String FIRST = "1 request, 1 order in PostgreSQL. Now click again.";

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
		this.page.prove("place", "clicks", FIRST);
		this.page.tryMore("clicks");
		this.page.prove("change", "clicks",
				"✓ 2 requests with one key, 1 order in PostgreSQL: 1 ran, 1 was rejected for another body (422).");
		this.page.prove("place", "clicks", "✓ 3 requests with one key, 1 order in PostgreSQL: 1 ran, "
				+ "1 got the stored response, byte for byte, 1 was rejected for another body (422).");
		this.page.awaitMarks("clicks-lane", "ran", "mismatched", "replayed");
		assertThat(this.page.texts("#clicks-lane .mark text")).containsExactly("201", "422", "201");
		assertThat(this.page.texts("#clicks-lane .legend li")).containsExactly("the handler ran",
				"asks for something else", "got the stored response");
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
		this.page.prove("place", "clicks",
				"1 request with one key, no order in PostgreSQL: 1 came during the run and must retry (409).");
		this.page.awaitMarks("clicks-lane", "in-progress");
	}

	@Test
	void drawsRepeatsThatWaitForTheAnswer() throws IOException {
		this.page.tryMore("clicks");
		this.page.choose("pending", "/api/orders/wait");
		// Long enough for the fifth request on a busy machine.
		this.page.chooseAs("pace", "delay=2000", "delay=7000");
		this.page.click("five-times");
		this.page.awaitProof("clicks", ("✓ 5 requests with one key, 1 order in PostgreSQL: 1 ran, "
				+ "4 waited for the stored response, byte for byte.")::equals);
		assertThat(this.page.texts("#clicks-responses .body")).hasSize(1);
	}

	@Test
	void findsTheOrderWhoseAnswerWasLost() throws IOException {
		this.page.click("lose");
		this.page.awaitProof("lost", (text) -> text.matches("✓ The answer was lost, the order was not: request \\d+ "
				+ "got the stored response, and PostgreSQL has 1 order\\."));
		assertThat(this.page.texts("#lost-responses .outcome b")).startsWith("– Lost").endsWith("201 Replayed");
	}

	@Test
	void runsARetryAgainAfterAFailureBeforeTheCommit() throws IOException {
		this.page.tryMore("lost");
		this.page.prove("fail-before", "lost",
				"✓ The request that failed has left nothing: its retry ran, and PostgreSQL has 1 order.");
		this.page.awaitMarks("lost-lane", "failed", "ran");
	}

	@Test
	void comparesTheGuaranteesAgainWithEachClick() throws IOException {
		for (int clicks = 1; clicks <= 2; clicks++) {
			this.page.prove("compare", "commit",
					"✓ With the key in the transaction, the retry got the stored response and there is 1 order; "
							+ "with the key in Redis, the retry ran again and there are 2 orders.");
			assertThat(this.page.texts("#commit .verdict")).containsExactly("✓ 1 order for one key",
					"✗ 2 orders for one key");
			assertThat(this.page.has("#lease-verdict.bad")).isTrue();
			this.page.awaitMarks("transaction-lane", "ran", "replayed");
			this.page.awaitMarks("lease-lane", "failed", "ran");
			this.page.awaitResponses("commit", "201 Ran", "201 Replayed", "500 Failed", "201 Ran");
		}
	}

	@Test
	void marksADoubleOrderAsBad() throws IOException {
		this.page.tryMore("commit");
		this.page.choose("handler", "/api/orders/lease");
		this.page.choose("trouble", "fail=after-commit");
		this.page.prove("trial-send", "trial", "1 request with one key, 1 order in PostgreSQL: 1 failed (500).");
		assertThat(this.page.has("#trial-proof.bad")).isFalse();
		this.page.choose("trouble", "");
		this.page.prove("trial-send", "trial",
				"✗ 2 requests with one key, 2 orders in PostgreSQL: 1 ran, 1 failed (500).");
		assertThat(this.page.has("#trial-proof.bad")).isTrue();
	}

	@Test
	void startsANewOrderForAnotherHandler() throws IOException {
		this.page.tryMore("commit");
		this.page.prove("trial-send", "trial", "1 request with one key, 1 order in PostgreSQL: 1 ran.");
		this.page.choose("handler", "/api/orders/lease");
		this.page.awaitProof("trial", "A new key. Nothing is sent with it yet."::equals);
		this.page.prove("trial-send", "trial", "1 request with one key, 1 order in PostgreSQL: 1 ran.");
	}

}
