package dev.idempotent.sample.form;

import java.io.IOException;
import java.util.List;

import org.htmlunit.WebClient;
import org.htmlunit.WebRequest;
import org.htmlunit.html.DomNode;
import org.htmlunit.html.HtmlButton;
import org.htmlunit.html.HtmlForm;
import org.htmlunit.html.HtmlPage;

/**
 * A visitor of the order form in a browser without JavaScript.
 */
class FormVisitor implements AutoCloseable {

	private final WebClient browser = new WebClient();

	private final String root;

	FormVisitor(int port) {
		this.root = "http://127.0.0.1:" + port;
		this.browser.getOptions().setJavaScriptEnabled(false);
		this.browser.getOptions().setThrowExceptionOnFailingStatusCode(false);
	}

	/**
	 * Loads a form and enters the user's name.
	 */
	void loadForm(String user) throws IOException {
		open("/forms/orders/new");
		type("userId", user);
	}

	void open(String path) throws IOException {
		this.browser.getPage(this.root + path);
	}

	void follow(String link) throws IOException {
		page().getAnchorByText(link).click();
	}

	void back() throws IOException {
		this.browser.getCurrentWindow().getHistory().back();
	}

	void reload() throws IOException {
		page().refresh();
	}

	void type(String field, String text) {
		form().getInputByName(field).setValue(text);
	}

	String value(String field) {
		return form().getInputByName(field).getValue();
	}

	void submit() throws IOException {
		button().click();
	}

	/**
	 * Returns what a submission of the form sends.
	 */
	WebRequest submission() {
		return form().getWebRequest(button());
	}

	void send(WebRequest submission) throws IOException {
		this.browser.getPage(submission);
	}

	int status() {
		return page().getWebResponse().getStatusCode();
	}

	String header(String name) {
		return String.valueOf(page().getWebResponse().getResponseHeaderValue(name));
	}

	/**
	 * Returns the address of the page, without the address of the server.
	 */
	String path() {
		return page().getUrl().toString().replace(this.root, "");
	}

	List<String> texts(String selector) {
		return page().querySelectorAll(selector).stream().map(DomNode::getTextContent).toList();
	}

	private HtmlButton button() {
		return (HtmlButton) form().getElementsByTagName("button").get(0);
	}

	private HtmlForm form() {
		return page().getHtmlElementById("order-form");
	}

	private HtmlPage page() {
		return (HtmlPage) this.browser.getCurrentWindow().getEnclosedPage();
	}

	@Override
	public void close() {
		this.browser.close();
	}

}
