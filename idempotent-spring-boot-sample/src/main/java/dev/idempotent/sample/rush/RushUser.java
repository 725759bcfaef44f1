package dev.idempotent.sample.rush;

import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;

import dev.idempotent.sample.rush.RushPlan.Behaviour;
import org.jspecify.annotations.Nullable;

/**
 * A user who wants a unit, and who retries, clicks twice, tries a second key or leaves.
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
	 * Does what the plan says.
	 */
	void run() {
		switch (this.plan.behaviour()) {
			case PEOPLE -> goShopping();
			case RESERVE -> reserve(false);
			case BUY -> {
				Answer answer = reserve(false);
				if (answer.status() == 201) {
					order(answer);
				}
			}
		}
	}

	private void goShopping() {
		// Some try in spite of a closed door.
		if (isTurnedAway() && !oneOf(10)) {
			return;
		}
		Answer answer = reserve(oneOf(10));
		if (oneOf(20)) {
			// With another key, perhaps beyond the limit.
			reserve(false);
		}
		if (answer.status() == 201) {
			int dice = this.random.nextInt(10);
			if (dice < 6) {
				order(answer);
			}
			else if (dice < 8) {
				cancel(answer);
			}
		}
	}

	private boolean isTurnedAway() {
		Answer door = this.shop.get("/api/flash-sales/" + this.item + "/door").join();
		boolean closed = door.body().contains("true");
		if (closed) {
			this.tally.turnedAway(door);
		}
		return closed;
	}

	private boolean oneOf(int number) {
		return this.random.nextInt(number) == 0;
	}

	/**
	 * Requests a unit with a new key, and repeats that key until there is an answer, or
	 * even after it.
	 * @param twice whether to send two equal requests at once
	 */
	private Answer reserve(boolean twice) {
		Ask ask = this.plan.ask(this.item, this.name);
		this.tally.asks(this.name);
		String chaos = chaos();
		Answer answer = this.shop.insist((attempt) -> {
			CompletableFuture<Answer> first = (attempt == 0) ? failing(ask, chaos) : this.shop.post(ask, null);
			return twice ? List.of(first, this.shop.post(ask, null)) : List.of(first);
		}, (noted) -> this.tally.note(ask, noted));
		if (!answer.isFinal()) {
			this.tally.givesUp();
		}
		if (this.plan.behaviour() == Behaviour.PEOPLE && oneOf(10)) {
			this.tally.note(ask, this.shop.insist(ask));
		}
		return answer;
	}

	private CompletableFuture<Answer> failing(Ask ask, @Nullable String chaos) {
		CompletableFuture<Answer> response = this.shop.post(ask, chaos);
		return (chaos == null) ? response : response.whenComplete((answer, failure) -> {
			if (failure == null) {
				this.tally.noteRequestedFailure(answer);
			}
		});
	}

	private void order(Answer reserved) {
		Ask order = new Ask(path(reserved) + "/order", null, "{}");
		String chaos = chaos();
		this.shop.insist((attempt) -> List.of(this.shop.post(order, (attempt == 0) ? chaos : null)),
				(answer) -> this.tally.promised(order, answer));
	}

	private void cancel(Answer reserved) {
		this.shop.insist((attempt) -> List.of(this.shop.delete(path(reserved))), (answer) -> {
		});
	}

	private static String path(Answer reserved) {
		return "/api/reservations/" + reserved.text("reservationId");
	}

	/**
	 * Lets only the first attempt fail, so that a later one succeeds.
	 */
	private @Nullable String chaos() {
		if (!this.plan.chaos() || !oneOf(8)) {
			return null;
		}
		return this.random.nextBoolean() ? "fail=before-commit" : "fail=after-commit";
	}

}
