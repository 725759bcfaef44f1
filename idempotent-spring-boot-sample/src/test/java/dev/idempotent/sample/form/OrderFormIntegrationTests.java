package dev.idempotent.sample.form;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import com.jayway.jsonpath.JsonPath;
import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.ShopTest;
import jakarta.servlet.ServletContext;
import jakarta.servlet.http.HttpServletResponse;
import org.htmlunit.WebRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

import static org.assertj.core.api.Assertions.assertThat;

@ShopTest
class OrderFormIntegrationTests {

	private final String user = ShopClient.newUser();

	private final int port;

	private final JdbcClient jdbc;

	private final FormVisitor visitor;

	OrderFormIntegrationTests(@LocalServerPort int port, @Autowired JdbcClient jdbc) {
		this.port = port;
		this.jdbc = jdbc;
		this.visitor = new FormVisitor(port);
	}

	@AfterEach
	void close() {
		this.visitor.close();
	}

	@Test
	void rendersEachFormWithATokenOfItsOwn() throws IOException {
		this.visitor.loadForm(this.user);
		String token = this.visitor.value("_idempotency");
		assertThat(this.visitor.header("Cache-Control")).isEqualTo("max-age=0, private");
		this.visitor.loadForm(this.user);
		assertThat(this.visitor.value("_idempotency")).isNotEqualTo(token);
	}

	@Test
	void placesTheOrderAndShowsItAtAnAddressOfItsOwn() throws IOException {
		this.visitor.loadForm(this.user);
		this.visitor.submit();
		assertThat(this.visitor.status()).isEqualTo(200);
		assertThat(this.visitor.path()).isEqualTo("/forms/orders/" + this.visitor.texts("#order-id").get(0));
		assertThat(this.visitor.texts("#orders tbody tr")).hasSize(1);
		String address = this.visitor.path();
		this.visitor.reload();
		assertThat(this.visitor.path()).isEqualTo(address);
		assertThat(ordersInTheDatabase()).isOne();
	}

	@Test
	void showsBothClicksOfADoubleClickTheSameOrder() throws IOException {
		this.visitor.loadForm(this.user);
		List<CompletableFuture<String>> clicks = List.of(click(), click());
		assertThat(clicks).extracting(CompletableFuture::join)
			.allSatisfy((path) -> assertThat(path).isEqualTo(clicks.get(0).join()).startsWith("/forms/orders/"));
		assertThat(ordersInTheDatabase()).isOne();
	}

	@Test
	void showsTheSameOrderAfterBackAndSubmit() throws IOException {
		this.visitor.loadForm(this.user);
		this.visitor.submit();
		String address = this.visitor.path();
		this.visitor.back();
		assertThat(this.visitor.path()).isEqualTo("/forms/orders/new");
		this.visitor.submit();
		assertThat(this.visitor.path()).isEqualTo(address);
		assertThat(ordersInTheDatabase()).isOne();
	}

	@Test
	void refusesChangedContentAndOffersANewForm() throws IOException {
		this.visitor.loadForm(this.user);
		this.visitor.submit();
		this.visitor.back();
		this.visitor.type("amount", "2");
		this.visitor.submit();
		assertThat(this.visitor.status()).isEqualTo(422);
		assertThat(this.visitor.texts("#detail").get(0))
			.contains("the first one with this token had different content, and it counts");
		assertThat(ordersInTheDatabase()).isOne();
		this.visitor.follow("Start another order");
		this.visitor.type("userId", this.user);
		this.visitor.submit();
		assertThat(this.visitor.status()).isEqualTo(200);
		assertThat(ordersInTheDatabase()).isEqualTo(2);
	}

	@Test
	void rendersAFormWithErrorsWithANewToken() throws IOException {
		this.visitor.loadForm(this.user);
		String token = this.visitor.value("_idempotency");
		this.visitor.type("item", " ");
		this.visitor.type("amount", "0");
		this.visitor.submit();
		assertThat(this.visitor.status()).isEqualTo(400);
		assertThat(this.visitor.texts(".error")).hasSize(2);
		assertThat(this.visitor.value("_idempotency")).isNotEqualTo(token);
		this.visitor.type("amount", "many");
		this.visitor.submit();
		assertThat(this.visitor.texts(".error")).containsExactly("must be a whole number");
		assertThat(this.visitor.value("userId")).isEqualTo(this.user);
		assertThat(this.visitor.value("amount")).isEqualTo("many");
		this.visitor.reload();
		assertThat(ordersInTheDatabase()).isZero();
		this.visitor.type("amount", "3");
		this.visitor.type("item", "Coffee coupon");
		this.visitor.submit();
		assertThat(this.visitor.texts("#orders tbody .number")).containsExactly("3");
		assertThat(ordersInTheDatabase()).isOne();
	}

	@Test
	void refusesAnExpiredToken(@Value("${idempotent.token.secrets}") String secret) throws Exception {
		this.visitor.loadForm(this.user);
		this.visitor.type("_idempotency", ExpiredToken.signedWith(secret));
		assertRefused(410,
				"Nothing was done for this request: the token has expired. If you have sent this form before, "
						+ "it may have been processed: look its result up. If you have not, load the page again.");
	}

	@Test
	void refusesATokenThatAnotherSecretHasSigned() throws Exception {
		this.visitor.loadForm(this.user);
		this.visitor.type("_idempotency", ExpiredToken.signedWith("demo:" + "A".repeat(44)));
		assertRefused(403,
				"Nothing was done for this request: the token was not issued for this operation and this caller. "
						+ "If you have sent this form before, it may have been processed: look its result up. If you have not, "
						+ "load the page again.");
	}

	@Test
	void asksForAReloadWhereANewFormCouldOrderTwice(@Autowired ProblemPageFilter filter,
			@Autowired ServletContext context) throws Exception {
		MockHttpServletRequest request = new MockHttpServletRequest(context);
		request.addHeader("Accept", "text/html,*/*;q=0.8");
		MockHttpServletResponse response = new MockHttpServletResponse();
		filter.doFilter(request, response, (req, res) -> {
			((HttpServletResponse) res).setStatus(503);
			res.setContentType("application/problem+json");
			res.getWriter().write("""
					{"status": 503, "title": "Outcome unknown", "detail": "Send it again."}""");
		});
		assertThat(response.getStatus()).isEqualTo(503);
		assertThat(response.getContentType()).startsWith("text/html");
		assertThat(response.getContentAsString()).contains("Send it again.", "Reload this page")
			.doesNotContain("Start another order");
	}

	@Test
	void answersClientsThatDoNotAcceptHtmlWithJson() {
		HttpResponse<String> refused = new ShopClient(this.port).post("/forms/orders", "{}");
		assertThat(refused.statusCode()).isEqualTo(400);
		assertThat(JsonPath.<String>read(refused.body(), "$.type")).endsWith("idempotency:key-missing");
	}

	@Test
	void saysThatAnOrderIsUnknown() throws IOException {
		this.visitor.open("/forms/orders/00000000-0000-0000-0000-000000000000");
		assertThat(this.visitor.status()).isEqualTo(404);
		assertThat(this.visitor.texts("#detail")).containsExactly("No order has this id. Place one first.");
	}

	private CompletableFuture<String> click() {
		WebRequest submission = this.visitor.submission();
		submission.setAdditionalHeader("X-Chaos", "delay=1000");
		return CompletableFuture.supplyAsync(() -> {
			try (FormVisitor click = new FormVisitor(this.port)) {
				click.send(submission);
				return click.path();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		});
	}

	private void assertRefused(int status, String detail) throws IOException {
		this.visitor.submit();
		assertThat(this.visitor.status()).isEqualTo(status);
		assertThat(this.visitor.texts("#detail")).containsExactly(detail);
		assertThat(this.visitor.texts("main a")).containsExactly("Start another order");
		assertThat(ordersInTheDatabase()).isZero();
	}

	private int ordersInTheDatabase() {
		return this.jdbc.sql("select count(*) from orders where user_id = :user")
			.param("user", this.user)
			.query(Integer.class)
			.single();
	}

}
