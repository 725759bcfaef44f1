package dev.idempotent.benchmark.state;

import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

import dev.idempotent.benchmark.Load;
import dev.idempotent.benchmark.Report;
import dev.idempotent.benchmark.Samples;
import dev.idempotent.benchmark.Scenario;

/**
 * Transactions with one bare update and with one move in turn, so that other load affects
 * both.
 */
final class MoveScenario implements Scenario {

	private final Orders orders;

	private final Load load;

	private final Duration time;

	/**
	 * Creates a scenario.
	 * @param time how long one measurement takes
	 */
	MoveScenario(Orders orders, Load load, Duration time) {
		this.orders = orders;
		this.load = load;
		this.time = time;
	}

	@Override
	public String name() {
		return "move";
	}

	@Override
	public void round(int number, Report report) {
		this.orders.tidy();
		Queue<Double> bare = new ConcurrentLinkedQueue<>();
		Queue<Double> ours = new ConcurrentLinkedQueue<>();
		AtomicLong turns = new AtomicLong();
		this.load.during(this.time, () -> {
			if (turns.getAndIncrement() % 2 == 0) {
				bare.add(micros(this.orders::updateOne));
			}
			else {
				ours.add(micros(this.orders::moveOne));
			}
		});
		double bareMedian = median(bare);
		double ourMedian = median(ours);
		report.add(name(), "bare", "us p50", bareMedian);
		report.add(name(), "ours", "us p50", ourMedian);
		report.add(name(), "ours", "rate / bare", bareMedian / ourMedian);
	}

	private static double micros(Runnable work) {
		long begin = System.nanoTime();
		work.run();
		return (System.nanoTime() - begin) / 1e3;
	}

	private static double median(Queue<Double> times) {
		return Samples.of(times.stream().mapToDouble(Double::doubleValue).toArray()).median();
	}

}
