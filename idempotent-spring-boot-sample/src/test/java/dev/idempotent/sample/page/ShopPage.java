package dev.idempotent.sample.page;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.htmlunit.WebClient;
import org.htmlunit.html.DomNode;
import org.htmlunit.html.HtmlElement;
import org.htmlunit.html.HtmlInput;
import org.htmlunit.html.HtmlPage;
import org.htmlunit.html.HtmlSelect;

/**
 * A page of the shop in a browser. Each instance is a new visitor.
 */
class ShopPage implements AutoCloseable {

	private static final Duration PATIENCE = Duration.ofMinutes(3);

	private final WebClient browser = new WebClient();

	private final HtmlPage page;

	ShopPage(int port) throws IOException {
		this(port, "");
	}

	ShopPage(int port, String path) throws IOException {
		this.page = this.browser.getPage("http://127.0.0.1:" + port + "/" + path);
	}

	void click(String id) throws IOException {
		this.page.getHtmlElementById(id).click();
	}

	/**
	 * Places the order once and waits for the sentence about it.
	 */
	void placeOrder(String sentence) throws IOException {
		click("place");
		awaitTexts("#sentence", sentence);
	}

	void choose(String name, String value) throws IOException {
		chooseAs(name, value, value);
	}

	/**
	 * Chooses an option, and gives it another value before.
	 */
	void chooseAs(String name, String value, String other) throws IOException {
		HtmlInput option = this.page.querySelector("input[name=" + name + "][value='" + value + "']");
		option.setAttribute("value", other);
		option.click();
	}

	/**
	 * Returns the user of the current key.
	 */
	String user() {
		return this.page.executeJavaScript("current.user").getJavaScriptResult().toString();
	}

	/**
	 * Returns the part of the address that starts with a {@code #}.
	 */
	String fragment() {
		return this.page.executeJavaScript("window.location.hash").getJavaScriptResult().toString();
	}

	void select(String id, String option) {
		this.page.<HtmlSelect>getHtmlElementById(id).setSelectedAttribute(option, true);
	}

	void type(String id, String text) {
		this.page.<HtmlInput>getHtmlElementById(id).setValue(text);
	}

	boolean has(String selector) {
		return !texts(selector).isEmpty();
	}

	boolean isHidden(String id) {
		return this.page.<HtmlElement>getHtmlElementById(id).hasAttribute("hidden");
	}

	boolean isDisabled(String id) {
		return this.page.<HtmlElement>getHtmlElementById(id).hasAttribute("disabled");
	}

	List<String> texts(String selector) {
		// The page's scripts run on a thread of their own, under this lock; but not what
		// they do once a promise resolves: a text that is being set can be gone here.
		synchronized (this.page) {
			return this.page.querySelectorAll(selector).stream().map(DomNode::getTextContent).toList();
		}
	}

	void awaitTexts(String selector, String... texts) {
		awaitTexts(selector, (shown) -> shown.equals(List.of(texts)));
	}

	void awaitTexts(String selector, Predicate<List<String>> expected) {
		Awaitility.await().atMost(PATIENCE).until(() -> texts(selector), expected);
	}

	/**
	 * Waits for the marks of the newest key, each its kind in the order of sending.
	 */
	void awaitMarks(String... kinds) {
		Awaitility.await().atMost(PATIENCE).until(this::marks, List.of(kinds)::equals);
	}

	private List<String> marks() {
		synchronized (this.page) {
			DomNode lane = this.page.querySelector("#lanes .lane");
			if (lane == null) {
				return List.of();
			}
			return lane.querySelectorAll(".mark")
				.stream()
				.map((mark) -> mark.getAttributes().getNamedItem("class").getNodeValue().replace("mark kind-", ""))
				.toList();
		}
	}

	List<String> awaitOutcomes(int count) {
		awaitTexts("#answers .outcome",
				(shown) -> shown.size() == count && !shown.contains("Waiting") && !shown.contains(""));
		List<String> statuses = texts("#answers .status");
		List<String> outcomes = texts("#answers .outcome");
		return IntStream.range(0, count).mapToObj((i) -> statuses.get(i) + " " + outcomes.get(i)).toList();
	}

	@Override
	public void close() {
		this.browser.close();
	}

}
