package dev.idempotent.sample.feedback;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import com.jayway.jsonpath.JsonPath;
import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.ShopTest;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;

@ShopTest
class FeedbackIntegrationTests {

	private final String user = ShopClient.newUser();

	private final ShopClient shop;

	private final JdbcClient jdbc;

	FeedbackIntegrationTests(@LocalServerPort int port, @Autowired JdbcClient jdbc) {
		this.shop = new ShopClient(port);
		this.jdbc = jdbc;
	}

	@Test
	void takesFeedbackWithoutAKey() {
		HttpResponse<String> taken = give("Lovely coffee");
		assertThat(taken.statusCode()).isEqualTo(202);
		assertThat(JsonPath.<String>read(taken.body(), "$.feedbackId")).isNotBlank();
		assertThat(feedbackInTheDatabase()).isOne();
	}

	@Test
	void refusesBlankFeedback() {
		HttpResponse<String> refused = give(" ");
		assertThat(refused.statusCode()).isEqualTo(400);
		assertThat(refused.headers().firstValue("Content-Type")).hasValue("application/problem+json");
		assertThat(feedbackInTheDatabase()).isZero();
	}

	@Test
	void takesOneFeedbackForADoubleClickWithoutKeys() {
		List<CompletableFuture<HttpResponse<String>>> clicks = List.of(giveAsync("Twice"), giveAsync("Twice"));
		assertThat(clicks).allSatisfy((click) -> assertThat(click.join().statusCode()).isIn(202, 409));
		assertThat(feedbackInTheDatabase()).isOne();
	}

	@Test
	void takesOtherWordsAsOtherFeedback() {
		give("Lovely coffee");
		give("Lovely tea");
		assertThat(feedbackInTheDatabase()).isEqualTo(2);
	}

	@Test
	void takesEqualWordsOfTwoUsersAsTwo() {
		String first = JsonPath.read(give("Lovely coffee").body(), "$.feedbackId");
		String other = JsonPath.read(giveAsync(ShopClient.newUser(), "Lovely coffee").join().body(), "$.feedbackId");
		assertThat(other).isNotEqualTo(first);
	}

	private HttpResponse<String> give(String text) {
		return giveAsync(text).join();
	}

	private CompletableFuture<HttpResponse<String>> giveAsync(String text) {
		return giveAsync(this.user, text);
	}

	private CompletableFuture<HttpResponse<String>> giveAsync(String user, String text) {
		return this.shop.postAsync("/api/feedback", """
				{"userId": "%s", "text": "%s"}
				""".formatted(user, text));
	}

	private long feedbackInTheDatabase() {
		return this.jdbc.sql("select count(*) from feedback where user_id = ?")
			.param(this.user)
			.query(Long.class)
			.single();
	}

}
