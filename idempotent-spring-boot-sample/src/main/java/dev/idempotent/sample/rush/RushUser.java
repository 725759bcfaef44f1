package dev.idempotent.sample.rush;

import java.util.Collections;
import java.util.List;
import java.util.Random;

import org.jspecify.annotations.Nullable;

/**
 * A user who wants a unit: impatient, forgetful, and sometimes dishonest.
 */
final class RushUser {

	private final ShopHttp shop;

	private final RushPlan plan;

	private final String item;

	private final String name;

	private final RushTally tally;

	private final Random random;

	RushUser(ShopHttp shop, RushPlan plan, String item, int number, RushTally tally) {
		this.shop = shop;
		this.plan = plan;
		this.item = item;
		this.name = "user-" + number;
		this.tally = tally;
		this.random = new Random(number);
	}

	/**
	 * Requests a unit, and orders it, cancels it or forgets it.
	 */
	void run() {
		if (this.plan.plain()) {
			reserve(1);
			return;
		}
		Answer door = this.shop.get("/api/flash-sales/" + this.item + "/door").join();
		// Some try in spite of a closed door.
		if (door.body().contains("true") && !oneOf(10)) {
			this.tally.turnedAway(door);
			return;
		}
		Answer answer = reserve(oneOf(10) ? 2 : 1);
		if (oneOf(20)) {
			reserve(1);
		}
		if (answer.status() == 201) {
			decide(answer.text("reservationId"));
		}
	}

	private boolean oneOf(int number) {
		return this.random.nextInt(number) == 0;
	}

	/**
	 * Requests a unit with a new key, and repeats that key.
	 * @param copies how many equal requests to send at once
	 */
	private Answer reserve(int copies) {
		Ask ask = this.plan.ask(this.item, this.name);
		this.tally.asks(this.name);
		String chaos = chaos();
		return this.shop.insist(
				(attempt) -> Collections.nCopies(copies, ask)
					.stream()
					.map((copy) -> this.shop.post(copy, (attempt == 0) ? chaos : null))
					.toList(),
				(answer) -> this.tally.note(ask, answer));
	}

	private void decide(String reservation) {
		String path = "/api/reservations/" + reservation;
		int dice = this.random.nextInt(10);
		if (dice < 6) {
			Ask order = new Ask(path + "/order", null, "{}");
			String chaos = chaos();
			this.shop.insist((attempt) -> List.of(this.shop.post(order, (attempt == 0) ? chaos : null)),
					(answer) -> this.tally.promised(order, answer));
		}
		else if (dice < 8) {
			this.shop.insist((attempt) -> List.of(this.shop.delete(path)), (answer) -> {
			});
		}
	}

	/**
	 * Chaos for the first attempt only, so that it has an end.
	 */
	private @Nullable String chaos() {
		if (!this.plan.chaos() || !oneOf(20)) {
			return null;
		}
		return this.random.nextBoolean() ? "fail=before-commit" : "fail=after-commit";
	}

}
