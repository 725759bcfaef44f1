package dev.idempotent.sample.agent;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import com.jayway.jsonpath.JsonPath;
import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.ShopTest;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The tools of the shop, called over streamable HTTP, and the agent of its page.
 */
@ShopTest
class AgentIntegrationTests {

	private static final Duration PATIENT = Duration.ofMinutes(1);

	private final String address;

	private final ShopClient shop;

	private final JdbcClient jdbc;

	private final String customer = ShopClient.newUser();

	AgentIntegrationTests(@LocalServerPort int port, @Autowired JdbcClient jdbc) {
		this.address = "http://127.0.0.1:" + port;
		this.shop = new ShopClient(port);
		this.jdbc = jdbc;
	}

	@Test
	void buysOnceHoweverOftenTheAgentRepeatsItself() {
		String friend = ShopClient.newUser();
		String calls = this.shop.post("/api/agent", """
				{"customer": "%s", "otherCustomer": "%s"}
				""".formatted(this.customer, friend)).body();
		assertThat(JsonPath.<String>read(calls, "$[0].outcome")).isEqualTo("lost");
		assertThat(JsonPath.<List<String>>read(calls, "$[?(@.session == 2)].outcome")).endsWith("replayed", "ran",
				"other-arguments");
		assertThat(JsonPath.<List<String>>read(calls, "$[?(@.session == 3)].outcome")).containsExactly("ran", "ran",
				"replayed");
		assertThat(orders(this.customer)).containsExactly("PAID");
		assertThat(orders(friend)).containsExactly("CANCELLED");
		assertThat(charges(this.customer)).isOne();
		assertThat(charges(friend)).isZero();
	}

	@Test
	void recognizesACallAfterANewConnection() {
		AgentCall first = callOnce("placeOrder", order(1), null);
		AgentCall repeated = callOnce("placeOrder", order(1), null);
		assertThat(first.outcome()).isEqualTo("ran");
		assertThat(repeated.outcome()).isEqualTo("replayed");
		assertThat(repeated.text()).isEqualTo(first.text());
		assertThat(orders(this.customer)).containsExactly("CREATED");
	}

	@Test
	void placesAnotherOrderForOtherArguments() {
		assertThat(callOnce("placeOrder", order(1), null).outcome()).isEqualTo("ran");
		assertThat(callOnce("placeOrder", order(2), null).outcome()).isEqualTo("ran");
		assertThat(orders(this.customer)).hasSize(2);
	}

	@Test
	void refusesOtherArgumentsUnderOneKey() {
		String key = ShopClient.newKey();
		assertThat(callOnce("placeOrder", order(1), key).outcome()).isEqualTo("ran");
		AgentCall changed = callOnce("placeOrder", order(2), key);
		assertThat(changed.outcome()).isEqualTo("other-arguments");
		assertThat(changed.text()).startsWith("This call was not completed");
		assertThat(orders(this.customer)).hasSize(1);
	}

	@Test
	void placesOneOrderForTenCallsAtOnce() {
		List<CompletableFuture<AgentCall>> calls = IntStream.range(0, 10)
			.mapToObj((i) -> CompletableFuture.supplyAsync(() -> callOnce("placeOrder", order(1), null)))
			.toList();
		assertThat(calls).extracting((call) -> call.join().outcome())
			.containsOnlyOnce("ran")
			.containsAnyOf("replayed", AgentCall.IN_PROGRESS)
			.isSubsetOf("ran", "replayed", AgentCall.IN_PROGRESS);
		assertThat(orders(this.customer)).hasSize(1);
	}

	@Test
	void repeatsACallWhoseAnswerWasLostAfterTheCommit() {
		AgentCall failed = callOnce("placeOrder", order(1), null, "fail=after-commit");
		AgentCall repeated = callOnce("placeOrder", order(1), null);
		assertThat(failed.outcome()).isNotEqualTo("replayed");
		assertThat(repeated.outcome()).isEqualTo("replayed");
		assertThat(orders(this.customer)).hasSize(1);
	}

	@Test
	void leavesNothingOfACallThatFailsBeforeTheCommit() {
		assertThat(callOnce("placeOrder", order(1), null, "fail=before-commit").outcome()).isEqualTo("failed");
		assertThat(orders(this.customer)).isEmpty();
		assertThat(callOnce("placeOrder", order(1), null).outcome()).isEqualTo("ran");
	}

	@Test
	void chargesOnceForAPaymentThatIsRepeated() {
		String orderId = JsonPath.read(callOnce("placeOrder", order(1), null).text(), "$.orderId");
		Map<String, Object> payment = Map.of("orderId", orderId, "method", "card");
		assertThat(callOnce("payOrder", payment, null, "fail=before-commit").outcome()).isEqualTo("failed");
		assertThat(callOnce("payOrder", payment, null).outcome()).isEqualTo("ran");
		assertThat(callOnce("payOrder", payment, null).outcome()).isEqualTo("replayed");
		assertThat(charges(this.customer)).isOne();
		assertThat(orders(this.customer)).containsExactly("PAID");
	}

	@Test
	void tellsTheAgentWhyItsCallHasFailed() {
		AgentCall unknown = callOnce("cancelOrder", Map.of("orderId", UUID.randomUUID().toString()), null);
		assertThat(unknown.outcome()).isEqualTo("failed");
		assertThat(unknown.text()).contains("No order has this id");
		AgentCall invalid = callOnce("placeOrder", order(0), null);
		assertThat(invalid.outcome()).isEqualTo("failed");
		assertThat(invalid.text()).contains("amount").doesNotContain("SQL");
	}

	@Test
	void doesNotPayOrCancelTheOrderOfAnotherCustomer() {
		String orderId = JsonPath.read(callOnce("placeOrder", order(1), null).text(), "$.orderId");
		try (AgentSession session = new AgentSession(1, this.address, ShopClient.newUser(), null, PATIENT)) {
			for (AgentCall call : List.of(session.call("payOrder", Map.of("orderId", orderId, "method", "card"), null),
					session.call("cancelOrder", Map.of("orderId", orderId), null))) {
				assertThat(call.outcome()).isEqualTo("failed");
				assertThat(call.text()).contains("No order has this id");
			}
		}
		assertThat(orders(this.customer)).containsExactly("CREATED");
		assertThat(charges(this.customer)).isZero();
	}

	@Test
	void refusesACallForNoCustomer() {
		try (AgentSession session = new AgentSession(1, this.address, " ", null, PATIENT)) {
			assertThat(session.call("placeOrder", order(1), ShopClient.newKey()).outcome()).isEqualTo("caller-unknown");
		}
	}

	private AgentCall callOnce(String tool, Map<String, Object> arguments, @Nullable String key) {
		return callOnce(tool, arguments, key, null);
	}

	/**
	 * Calls a tool in a session of its own.
	 */
	private AgentCall callOnce(String tool, Map<String, Object> arguments, @Nullable String key,
			@Nullable String chaos) {
		try (AgentSession session = new AgentSession(1, this.address, this.customer, chaos, PATIENT)) {
			return session.call(tool, arguments, key);
		}
	}

	private static Map<String, Object> order(int amount) {
		return Map.of("item", "Coffee coupon", "amount", amount);
	}

	private List<String> orders(String userId) {
		return this.jdbc.sql("select status from orders where user_id = ?").param(userId).query(String.class).list();
	}

	private long charges(String userId) {
		return this.jdbc.sql("select count(*) from charges c join orders o using (order_id) where o.user_id = ?")
			.param(userId)
			.query(Long.class)
			.single();
	}

}
