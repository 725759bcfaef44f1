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
	 * Opens what a step offers beside its button.
	 */
	void tryMore(String step) throws IOException {
		this.page.<HtmlElement>querySelector("#" + step + " .more > summary").click();
	}

	/**
	 * Clicks a button and waits for the sentence that says what a step has proved.
	 */
	void prove(String button, String step, String sentence) throws IOException {
		click(button);
		awaitProof(step, sentence::equals);
	}

	void awaitProof(String step, Predicate<String> expected) {
		awaitTexts("#" + step + "-proof", (texts) -> expected.test(texts.get(0)));
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
	 * Returns the user of the key of the first step.
	 */
	String user() {
		return run("clicked.user");
	}

	/**
	 * Runs a script in the page.
	 */
	String run(String script) {
		return String.valueOf(this.page.executeJavaScript(script).getJavaScriptResult());
	}

	/**
	 * Returns the part of the address that starts with a {@code #}.
	 */
	String fragment() {
		return run("window.location.hash");
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
	 * Waits for the marks of a line, each its kind in the order of sending.
	 */
	void awaitMarks(String lane, String... kinds) {
		Awaitility.await().atMost(PATIENCE).until(() -> marks(lane), List.of(kinds)::equals);
	}

	private List<String> marks(String lane) {
		synchronized (this.page) {
			return this.page.querySelectorAll("#" + lane + " .mark")
				.stream()
				.map((mark) -> mark.getAttributes().getNamedItem("class").getNodeValue().replace("mark kind-", ""))
				.toList();
		}
	}

	/**
	 * Waits for the responses of a step, such as {@code 201 Ran}, those with the same
	 * bytes one after the other.
	 */
	void awaitResponses(String step, String... responses) {
		awaitTexts("#" + step + "-responses .outcome b", responses);
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
