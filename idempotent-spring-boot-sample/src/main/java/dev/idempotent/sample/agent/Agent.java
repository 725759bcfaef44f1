package dev.idempotent.sample.agent;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/**
 * An agent without a model: it acts as agents do that lose an answer, reconnect, change
 * their mind, or serve another customer.
 */
final class Agent {

	private static final String LATE = "delay=1500";

	private static final Duration IMPATIENT = Duration.ofMillis(500);

	private static final Duration PATIENT = Duration.ofSeconds(20);

	private static final int MOST_RETRIES = 40;

	private static final Map<String, Object> ORDER = Map.of("item", "Coffee coupon", "amount", 1);

	private final String shop;

	private final List<AgentCall> calls = new ArrayList<>();

	private int sessions;

	Agent(String shop) {
		this.shop = shop;
	}

	/**
	 * Buys something for a customer, and for another one.
	 * @return the calls in their order
	 */
	List<AgentCall> buy(String customer, String otherCustomer) throws InterruptedException {
		try (AgentSession session = session(customer, LATE, IMPATIENT)) {
			call(session, "placeOrder", ORDER, null);
			call(session, "placeOrder", ORDER, null);
		}
		try (AgentSession session = session(customer, null, PATIENT)) {
			String orderId = orderOf(insist(session));
			String key = UUID.randomUUID().toString();
			call(session, "payOrder", Map.of("orderId", orderId, "method", "card"), key);
			call(session, "payOrder", Map.of("orderId", orderId, "method", "invoice"), key);
		}
		try (AgentSession session = session(otherCustomer, null, PATIENT)) {
			String orderId = orderOf(call(session, "placeOrder", ORDER, null));
			call(session, "cancelOrder", Map.of("orderId", orderId), null);
			call(session, "cancelOrder", Map.of("orderId", orderId), null);
		}
		return this.calls;
	}

	private AgentSession session(String customer, @Nullable String chaos, Duration patience) {
		this.sessions++;
		return new AgentSession(this.sessions, this.shop, customer, chaos, patience);
	}

	private AgentCall insist(AgentSession session) throws InterruptedException {
		AgentCall call = call(session, "placeOrder", ORDER, null);
		for (int retries = 0; call.isOpen() && retries < MOST_RETRIES; retries++) {
			TimeUnit.MILLISECONDS.sleep(500);
			call = call(session, "placeOrder", ORDER, null);
		}
		return call;
	}

	private AgentCall call(AgentSession session, String tool, Map<String, Object> arguments, @Nullable String key) {
		AgentCall call = session.call(tool, arguments, key);
		this.calls.add(call);
		return call;
	}

	private static String orderOf(AgentCall call) {
		return JsonMapper.shared().readTree(call.text()).required("orderId").stringValue();
	}

}
