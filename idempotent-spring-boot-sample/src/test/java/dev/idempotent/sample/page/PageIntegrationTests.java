package dev.idempotent.sample.page;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.ShopTest;
import org.awaitility.Awaitility;
import org.htmlunit.WebClient;
import org.htmlunit.html.DomNode;
import org.htmlunit.html.HtmlInput;
import org.htmlunit.html.HtmlPage;
import org.htmlunit.html.HtmlSelect;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;

@ShopTest
class PageIntegrationTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private final String user = ShopClient.newUser();

	private final WebClient browser = new WebClient();

	private final HtmlPage page;

	private final JdbcClient jdbc;

	PageIntegrationTests(@LocalServerPort int port, @Autowired JdbcClient jdbc) throws IOException {
		this.page = this.browser.getPage("http://127.0.0.1:" + port + "/");
		this.jdbc = jdbc;
	}

	@BeforeEach
	void signIn() {
		this.page.<HtmlInput>getHtmlElementById("user").setValue(this.user);
	}

	@AfterEach
	void close() {
		this.browser.close();
	}

	@Test
	void placesAnOrderAndListsIt() throws IOException {
		click("place");
		assertThat(awaitOutcomes(1)).containsExactly("201 Ran");
		awaitListedOrders(1);
		assertThat(ordersInTheDatabase()).isOne();
	}

	@Test
	void placesOneOrderForADoubleClick() throws IOException {
		click("place-twice");
		assertThat(awaitOutcomes(2)).containsOnlyOnce("201 Ran").containsAnyOf("201 Replayed", "409 Refused");
		awaitListedOrders(1);
		assertThat(ordersInTheDatabase()).isOne();
	}

	@Test
	void showsThatARetryIsReplayed() throws IOException {
		click("place");
		awaitOutcomes(1);
		click("resend");
		assertThat(awaitOutcomes(2)).containsExactly("201 Replayed", "201 Ran");
		assertThat(texts("#answers .body").stream().distinct()).hasSize(1);
		awaitListedOrders(1);
		assertThat(ordersInTheDatabase()).isOne();
	}

	@Test
	void showsThatAKeyIsRefusedForAnotherBody() throws IOException {
		click("place");
		awaitOutcomes(1);
		click("change");
		assertThat(awaitOutcomes(2)).containsExactly("422 Refused", "201 Ran");
		awaitListedOrders(1);
	}

	@Test
	void takesANewKeyForANewOrder() throws IOException {
		String key = texts("#key").get(0);
		click("place");
		awaitOutcomes(1);
		assertThat(texts("#key")).containsExactly(key);
		click("place");
		assertThat(awaitOutcomes(2)).containsExactly("201 Ran", "201 Ran");
		assertThat(texts("#key")).doesNotContain(key);
		awaitListedOrders(2);
	}

	@Test
	void showsAFailureAndPlacesTheOrderOnARetry() throws IOException {
		chooseChaos("fail=before-commit");
		click("place");
		awaitOutcomes(1);
		chooseChaos("");
		click("resend");
		assertThat(awaitOutcomes(2)).containsExactly("201 Ran", "500 Failed");
		awaitListedOrders(1);
	}

	@Test
	void showsTheOutcomeOfAFailureAfterTheCommitForEachGuarantee() throws IOException {
		click("fail-both");
		assertThat(awaitOutcomes(2)).containsExactly("500 Failed", "201 Ran");
		awaitComparison("500 Failed", "–", "1", "201 Ran", "–", "1");
		click("retry-both");
		assertThat(awaitOutcomes(4)).containsExactly("201 Ran", "201 Replayed", "500 Failed", "201 Ran");
		awaitComparison("500 Failed", "201 Ran", "2", "201 Ran", "201 Replayed", "1");
	}

	@Test
	void comparesTheGuaranteesAgainWithEachClick() throws IOException {
		click("fail-both");
		awaitComparison("500 Failed", "–", "1", "201 Ran", "–", "1");
		click("retry-both");
		awaitComparison("500 Failed", "201 Ran", "2", "201 Ran", "201 Replayed", "1");
		click("fail-both");
		awaitComparison("500 Failed", "–", "1", "201 Ran", "–", "1");
	}

	@Test
	void paysTheLastOrderOnce() throws IOException {
		click("place");
		awaitOutcomes(1);
		this.page.<HtmlSelect>getHtmlElementById("method").setSelectedAttribute("declined", true);
		click("pay");
		awaitOutcomes(2);
		this.page.<HtmlSelect>getHtmlElementById("method").setSelectedAttribute("card", true);
		click("pay");
		awaitOutcomes(3);
		click("pay");
		assertThat(awaitOutcomes(4)).containsExactly("409 Refused", "200 Ran", "402 Refused", "201 Ran");
		Awaitility.await().atMost(PATIENCE).until(() -> texts("#orders .badge").equals(List.of("PAID")));
	}

	@Test
	void listsTheEventsOfAnOrderAsTheyAreHandled() throws IOException {
		click("place");
		awaitOutcomes(1);
		awaitListedEvents("order.created");
		click("resend");
		awaitOutcomes(2);
		click("pay");
		awaitOutcomes(3);
		awaitListedEvents("order.paid", "order.created");
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> texts("#stat-eventsDelivered, #stat-eventsHandled, #stat-duplicatesDropped").stream()
				.allMatch((count) -> count.matches("\\d+")));
	}

	@Test
	void takesOneFeedbackForADoubleClickWithoutKeys() throws IOException {
		click("give-twice");
		assertThat(awaitOutcomes(2)).containsOnlyOnce("202 Ran").containsAnyOf("202 Replayed", "409 Refused");
		assertThat(this.jdbc.sql("select count(*) from feedback where user_id = ?")
			.param(this.user)
			.query(Long.class)
			.single()).isOne();
	}

	@Test
	void escapesText() throws IOException {
		this.page.<HtmlInput>getHtmlElementById("item").setValue("<b id='bold'>10 %</b> & more");
		click("place");
		Awaitility.await().atMost(PATIENCE).until(() -> texts("#orders td").contains("<b id='bold'>10 %</b> & more"));
		assertThat(this.page.<DomNode>querySelector("#bold")).isNull();
	}

	private void click(String id) throws IOException {
		this.page.getHtmlElementById(id).click();
	}

	private void chooseChaos(String chaos) throws IOException {
		this.page.<HtmlInput>querySelector("input[value='" + chaos + "']").click();
	}

	private List<String> awaitOutcomes(int count) {
		List<String> outcomes = Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> texts("#answers .outcome"),
					(shown) -> shown.size() == count && !shown.contains("Waiting") && !shown.contains(""));
		List<String> statuses = texts("#answers .status");
		return IntStream.range(0, count).mapToObj((i) -> statuses.get(i) + " " + outcomes.get(i)).toList();
	}

	private void awaitComparison(String... cells) {
		Awaitility.await().atMost(PATIENCE).until(() -> texts("#comparison td").equals(List.of(cells)));
	}

	private void awaitListedOrders(int count) {
		Awaitility.await().atMost(PATIENCE).until(() -> texts("#orders tr").size() == count);
	}

	private void awaitListedEvents(String... types) {
		Awaitility.await().atMost(PATIENCE).until(() -> texts("#events tr td:nth-child(2)").equals(List.of(types)));
	}

	private List<String> texts(String selector) {
		// The page's scripts run on a thread of their own, under this lock; but not what
		// they do once a promise resolves: a text that is being set can be gone here.
		synchronized (this.page) {
			return this.page.querySelectorAll(selector).stream().map(DomNode::getTextContent).toList();
		}
	}

	private long ordersInTheDatabase() {
		return this.jdbc.sql("select count(*) from orders where user_id = ?")
			.param(this.user)
			.query(Long.class)
			.single();
	}

}
