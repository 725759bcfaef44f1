package dev.idempotent.sample.rush;

import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

import dev.idempotent.sample.rush.Answer.Kind;
import dev.idempotent.sample.rush.RushTally.Promise;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Repeats the requests of a rush after it, and compares the answers.
 */
final class Repetition {

	private final ShopHttp shop;

	private final Queue<String> problems = new ConcurrentLinkedQueue<>();

	private final Map<String, String> keys = new ConcurrentHashMap<>();

	private final Map<String, String> told = new ConcurrentHashMap<>();

	private final Map<Ask, String> promised = new ConcurrentHashMap<>();

	private final Set<String> orders = ConcurrentHashMap.newKeySet();

	private final Set<String> ended = ConcurrentHashMap.newKeySet();

	Repetition(ShopHttp shop) {
		this.shop = shop;
	}

	/**
	 * Repeats a request that got 201.
	 */
	void repeat(Promise promise) {
		Ask ask = promise.ask();
		Answer answer = this.shop.insist(ask);
		boolean same = answer.status() == 201 && answer.body().equals(promise.body());
		String before = this.promised.putIfAbsent(ask, promise.body());
		check(before == null || before.equals(promise.body()), "different things", answer);
		JsonNode unit = JsonMapper.shared().readTree(promise.body());
		if (ask.key() == null) {
			check(same, "an order", answer);
			this.orders.add(unit.path("orderId").asString());
			return;
		}
		String reservation = unit.path("reservationId").asString();
		this.told.put(reservation, unit.path("userId").asString());
		String other = this.keys.put(reservation, ask.key());
		check(other == null || other.equals(ask.key()), "the reservation of another key", answer);
		switch (answer.kind()) {
			// If Redis has lost the response, the gate may refuse before the ledger is
			// asked.
			case ENDED, SOLD_OUT, LIMIT_REACHED -> this.ended.add(reservation);
			default -> check(same, "a reservation", answer);
		}
	}

	private void check(boolean right, String promised, Answer answer) {
		if (!right) {
			this.problems
				.add("a request was promised %s, and got %d when it was repeated".formatted(promised, answer.status()));
		}
	}

	/**
	 * Lets one more buyer request a unit, and cancels it.
	 * @return whether the buyer got a unit, or {@code null} without a decision
	 */
	@Nullable Boolean sell(Ask ask) {
		Answer answer = this.shop.insist(ask);
		if (answer.kind() == Kind.RESERVED) {
			String reservation = answer.text("reservationId");
			this.shop.insist((attempt) -> List.of(this.shop.delete("/api/reservations/" + reservation)), (last) -> {
			});
			return true;
		}
		return (answer.kind() == Kind.SOLD_OUT) ? false : null;
	}

	Recheck result(Map<String, Integer> keys, @Nullable Boolean sold) {
		return new Recheck(List.copyOf(this.problems), Map.copyOf(this.told), Set.copyOf(this.orders),
				Set.copyOf(this.ended), keys, sold);
	}

}
