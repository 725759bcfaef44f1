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
		JsonNode body = JsonMapper.shared().readTree(promise.body());
		if (ask.key() != null) {
			String reservation = body.path("reservationId").asString();
			this.told.put(reservation, body.path("userId").asString());
			String other = this.keys.put(reservation, ask.key());
			if (other != null && !other.equals(ask.key())) {
				this.problems.add("two keys have the same reservation");
			}
			if (answer.kind() == Kind.ENDED) {
				this.ended.add(reservation);
				return;
			}
		}
		if (!answer.isFinal()) {
			this.problems.add("a request got 201, and no answer when it was repeated");
		}
		else if (answer.status() != 201 || !answer.body().equals(promise.body())) {
			this.problems
				.add("a request got 201, and another answer with status " + answer.status() + " when it was repeated");
		}
	}

	/**
	 * Lets one more buyer request a unit, and gives it back.
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
		return new Recheck(List.copyOf(this.problems), Map.copyOf(this.told), Set.copyOf(this.ended), keys, sold);
	}

}
