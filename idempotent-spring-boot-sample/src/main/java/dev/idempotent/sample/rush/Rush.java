package dev.idempotent.sample.rush;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import dev.idempotent.sample.rush.RushPlan.Behaviour;
import dev.idempotent.sample.rush.RushTally.Figures;
import dev.idempotent.sample.rush.RushView.State;
import org.jspecify.annotations.Nullable;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;
import org.springframework.util.Assert;

/**
 * Lets users buy over HTTP, repeats their requests afterwards, and asks for the verdict.
 */
final class Rush implements AutoCloseable {

	private static final int THREADS = 64;

	/**
	 * How long the gate may be wrong after all requests were repeated.
	 */
	private static final Duration CORRECTION = Duration.ofSeconds(20);

	private final String id = UUID.randomUUID().toString();

	private final String item = "rush-" + this.id.substring(0, 8);

	private final RushTally tally = new RushTally();

	private final RushPlan plan;

	private final ShopHttp shop;

	private final SaleAuditor auditor;

	private volatile State state = State.RUNNING;

	private volatile @Nullable Recheck recheck;

	Rush(RushPlan plan, ShopHttp shop, SaleAuditor auditor) {
		this.plan = plan;
		this.shop = shop;
		this.auditor = auditor;
	}

	String id() {
		return this.id;
	}

	String item() {
		return this.item;
	}

	boolean isDone() {
		return this.state == State.DONE;
	}

	/**
	 * Opens the sale.
	 */
	void open() {
		Ask opening = this.plan.opening(this.item);
		Answer answer = this.shop.insist(opening);
		Assert.state(answer.status() == 201, () -> "The sale was not opened: the status is " + answer.status());
	}

	/**
	 * Runs until all users have finished and, if they are people, there is a verdict.
	 */
	void run() {
		this.tally.start();
		ExecutorService threads = threads();
		try {
			buy(threads);
			this.tally.end();
			if (this.plan.behaviour() == Behaviour.PEOPLE) {
				this.state = State.SETTLING;
				settle(threads);
			}
		}
		finally {
			threads.shutdownNow();
			this.state = State.DONE;
		}
	}

	private void buy(ExecutorService threads) {
		inParallel(threads, IntStream.rangeClosed(1, this.plan.users()).mapToObj((number) -> () -> {
			new RushUser(this.shop, this.plan, this.item, number, this.tally).run();
			this.tally.finished();
		}));
	}

	private void settle(ExecutorService threads) {
		await(() -> audit().isAtRest(), Duration.ofHours(1));
		Repetition repetition = new Repetition(this.shop);
		inParallel(threads, this.tally.promises().stream().map((promise) -> () -> repetition.repeat(promise)));
		String buyer = "one-more";
		this.tally.asks(buyer);
		Boolean sold = repetition.sell(this.plan.ask(this.item, buyer));
		this.recheck = repetition.result(this.tally.keys(), sold);
		await(() -> verdict().holds(), CORRECTION);
		// The last buyer's reservation may have to expire before the verdict is decided.
		await(() -> audit().isAtRest(), Duration.ofHours(1));
	}

	private static ExecutorService threads() {
		CustomizableThreadFactory factory = new CustomizableThreadFactory("rush-");
		factory.setDaemon(true);
		return Executors.newFixedThreadPool(THREADS, factory);
	}

	private static void inParallel(ExecutorService threads, Stream<Runnable> tasks) {
		CompletableFuture
			.allOf(tasks.map((task) -> CompletableFuture.runAsync(task, threads)).toArray(CompletableFuture[]::new))
			.join();
	}

	private static void await(BooleanSupplier condition, Duration time) {
		long deadline = System.nanoTime() + time.toNanos();
		try {
			while (!condition.getAsBoolean() && System.nanoTime() < deadline) {
				TimeUnit.MILLISECONDS.sleep(200);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private SaleAudit audit() {
		return this.auditor.audit(this.item, this.recheck);
	}

	/**
	 * Returns the verdict on the current state of the sale.
	 */
	Verdict verdict() {
		return audit().verdict();
	}

	Figures figures() {
		return this.tally.figures();
	}

	RushView view() {
		boolean decided = isDone() && this.plan.behaviour() == Behaviour.PEOPLE;
		return new RushView(this.id, this.item, this.state, this.plan.users(), figures(), decided ? verdict() : null);
	}

	/**
	 * Ends the rush soon.
	 */
	@Override
	public void close() {
		this.shop.close();
	}

}
