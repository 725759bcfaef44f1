package dev.idempotent.benchmark.outbox;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongBinaryOperator;

import dev.idempotent.benchmark.Load;
import dev.idempotent.benchmark.Report;
import dev.idempotent.benchmark.Rounds;
import dev.idempotent.benchmark.Scenario;
import dev.idempotent.benchmark.Throughput;

/**
 * Ordered events at a constant rate, in the shape of the performance test that namastack
 * publishes: a hundred events in a transaction, ten of each key. Theirs inserts the rows
 * by itself and has a handler without work; here the transaction stores an order, the
 * events are appended through the contender, and they end in its stream.
 */
final class SustainedScenario implements Scenario {

	private static final int EVENTS = 100;

	private static final int OF_A_KEY = 10;

	/**
	 * A rate is sustained if producer and delivery reach this share of it, and the
	 * backlog stays below the backlog of namastack's test.
	 */
	private static final double REACHED = 0.95;

	private static final int MOST_BACKLOG = 20_000;

	/**
	 * How often the range that has the limit is halved.
	 */
	private static final int HALVINGS = 2;

	private final List<OutboxContender> contenders;

	private final Load load;

	private final int rate;

	private final Duration time;

	/**
	 * Creates a scenario.
	 * @param rate events per second, from which the limit is searched
	 */
	SustainedScenario(List<OutboxContender> contenders, Load load, int rate, Duration time) {
		this.contenders = contenders.stream().filter(OutboxContender::hasBacklog).toList();
		this.load = load;
		this.rate = rate;
		this.time = time;
	}

	@Override
	public String name() {
		return "sustained";
	}

	@Override
	public void round(int number, Report report) {
		for (OutboxContender contender : Rounds.inTurn(this.contenders, number)) {
			contender.tidy();
			Cost cost = Cost.begin(contender.shop(), Shop.ORDERS);
			Run run = run(contender, this.rate);
			cost.end(report, name(), contender.name(), "", run.events());
			report.add(name(), contender.name(), "events/s produced", run.produced());
			report.add(name(), contender.name(), "events/s delivered", run.delivered());
			report.add(name(), contender.name(), "largest backlog", (double) run.backlog());
			report.add(name(), contender.name(), "delivered again",
					(double) (contender.stream().length() - run.events()));
			report.add(name(), contender.name(), "out of order",
					(double) contender.stream().outOfOrder((event) -> event / OF_A_KEY));
			double limit = limit(contender, run.isSustained(this.rate));
			report.add(name(), contender.name(), "events/s sustained", limit);
			report.ratio("sustained-" + contender.name(), limit);
		}
	}

	/**
	 * The highest rate that is sustained, to within a fifth.
	 * @param sustained whether the given rate is
	 */
	private double limit(OutboxContender contender, boolean sustained) {
		double low = sustained ? this.rate : this.rate / 2.0;
		while (sustained ? sustains(contender, low * 2) : low >= EVENTS && !sustains(contender, low)) {
			low = sustained ? low * 2 : low / 2;
		}
		double high = low * 2;
		for (int i = 0; i < HALVINGS; i++) {
			double middle = Math.sqrt(low * high);
			if (sustains(contender, middle)) {
				low = middle;
			}
			else {
				high = middle;
			}
		}
		return low;
	}

	private boolean sustains(OutboxContender contender, double perSecond) {
		contender.tidy();
		return run(contender, perSecond).isSustained(perSecond);
	}

	private Run run(OutboxContender contender, double perSecond) {
		AtomicLong committed = new AtomicLong();
		AtomicLong backlog = new AtomicLong();
		LongBinaryOperator larger = Math::max;
		contender.startDelivery();
		Throughput produced = this.load.paced((int) Math.round(perSecond / EVENTS), this.time, (due) -> {
			place(contender);
			long all = committed.addAndGet(EVENTS);
			long unused = backlog.accumulateAndGet(all - contender.stream().length(), larger);
		});
		long delivered = contender.stream().length();
		contender.stream().awaitLength(committed.get());
		contender.stopDelivery();
		return new Run(new Throughput(committed.get(), produced.nanos()), new Throughput(delivered, produced.nanos()),
				backlog.get());
	}

	private static void place(OutboxContender contender) {
		long unused = contender.shop().place((order) -> {
			long first = order.number() * EVENTS;
			for (long event = first; event < first + EVENTS; event++) {
				contender.append(OrderPlaced.numbered(event), "customer-" + event / OF_A_KEY);
			}
		});
	}

	/**
	 * What happened while events were produced at a rate.
	 *
	 * @param committed what was produced
	 * @param inStream what was delivered until the last was produced
	 * @param backlog the largest
	 */
	private record Run(Throughput committed, Throughput inStream, long backlog) {

		long events() {
			return this.committed.count();
		}

		double produced() {
			return this.committed.perSecond();
		}

		double delivered() {
			return this.inStream.perSecond();
		}

		boolean isSustained(double rate) {
			return produced() >= REACHED * rate && delivered() >= REACHED * rate && this.backlog < MOST_BACKLOG;
		}

	}

}
