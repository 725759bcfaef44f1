package dev.idempotent.sample.crash;

import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;

import dev.idempotent.sample.crash.site.ShopInstance;
import org.jspecify.annotations.Nullable;

/**
 * Places orders, one key each, retries until there is an answer, and some more times
 * after it. Pays some of them.
 */
final class Customer implements Runnable {

	private final OrderSender sender;

	private final List<ShopInstance> shops;

	private final CrashSettings settings;

	private final KeyRing keys;

	private final Storm storm;

	private final Tally outcomes;

	private final Random random;

	Customer(List<ShopInstance> shops, CrashSettings settings, KeyRing keys, Storm storm, Tally outcomes, long seed) {
		this.sender = new OrderSender(settings.path());
		this.shops = shops;
		this.settings = settings;
		this.keys = keys;
		this.storm = storm;
		this.outcomes = outcomes;
		this.random = new Random(seed);
	}

	@Override
	public void run() {
		for (KeyHistory key = next(); key != null; key = next()) {
			askUntilAnswered(key, false, oneOf(5) ? this.random.nextInt(2, 9) : 1);
			askUntilAnswered(key, false, 1);
			askUntilAnswered(key, false, 1);
			if (oneOf(10)) {
				askUntilAnswered(key, true, 1);
			}
			if (oneOf(3)) {
				pay(key);
			}
			this.keys.answered(key, this.random);
			KeyHistory old = this.keys.old(this.random);
			if (old != null) {
				askUntilAnswered(old, false, 1);
			}
		}
	}

	private boolean oneOf(int number) {
		return this.random.nextInt(number) == 0;
	}

	private @Nullable KeyHistory next() {
		return this.storm.isOver() ? null : this.keys.next();
	}

	/**
	 * Retries until there is a final answer.
	 * @param altered whether to send another request under the same key
	 * @param copies how many concurrent requests to send
	 */
	private void askUntilAnswered(KeyHistory key, boolean altered, int copies) {
		askUntilAnswered(key, () -> this.sender.send(shop(), key.key(), altered, chaos(key)), copies);
	}

	/**
	 * Pays an order under another key. Its events show the outcome.
	 */
	private void pay(KeyHistory order) {
		KeyHistory payment = new KeyHistory(order.key() + "-payment");
		order.answers()
			.stream()
			.findFirst()
			.map(Answer::orderId)
			.ifPresent((orderId) -> askUntilAnswered(payment,
					() -> this.sender.pay(shop(), payment.key(), orderId, chaos(payment)), 1));
	}

	private void askUntilAnswered(KeyHistory key, Supplier<CompletableFuture<Attempt>> request, int copies) {
		while (!this.storm.isPastCalm()) {
			List<CompletableFuture<Attempt>> attempts = Stream.generate(request).limit(copies).toList();
			boolean answered = false;
			for (CompletableFuture<Attempt> attempt : attempts) {
				key.add(attempt.join());
				this.outcomes.count(attempt.join().outcome());
				answered = answered || attempt.join().finalAnswer() != null;
			}
			if (answered) {
				return;
			}
			rest();
		}
	}

	/**
	 * Usually one that is up, sometimes one that is down.
	 */
	private ShopInstance shop() {
		List<ShopInstance> ready = this.shops.stream().filter(ShopInstance::isReady).toList();
		List<ShopInstance> choice = (ready.isEmpty() || oneOf(20)) ? this.shops : ready;
		return choice.get(this.random.nextInt(choice.size()));
	}

	private void rest() {
		try {
			TimeUnit.MILLISECONDS.sleep(this.random.nextInt(10, 120));
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Chaos for requests that run: it has no effect on a replay.
	 */
	private String chaos(KeyHistory key) {
		int dice = this.random.nextInt(100);
		if (key.isAnswered() || this.storm.isOver()) {
			return "";
		}
		String wish = this.storm.takeWish();
		if (!wish.isEmpty()) {
			return wish;
		}
		if (dice < 4 && this.settings.hasFault("fail-before-commit")) {
			return "fail=before-commit";
		}
		if (dice > 95 && this.settings.hasFault("fail-after-commit")) {
			return "fail=after-commit";
		}
		return (dice < 10) ? "delay=" + this.random.nextInt(200) : "";
	}

}
