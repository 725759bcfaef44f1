package dev.idempotent.benchmark.saga;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;

import com.sun.management.OperatingSystemMXBean;
import dev.idempotent.benchmark.Load;
import dev.idempotent.benchmark.Report;
import dev.idempotent.benchmark.Rounds;
import dev.idempotent.benchmark.Scenario;
import dev.idempotent.benchmark.Throughput;

/**
 * Three steps, as fast as the clients can.
 */
final class SagaScenario implements Scenario {

	private static final OperatingSystemMXBean processor = ManagementFactory
		.getPlatformMXBean(OperatingSystemMXBean.class);

	private final String name;

	private final List<? extends SagaContender> contenders;

	private final Consumer<SagaContender> work;

	private final Load load;

	private final Duration time;

	/**
	 * Creates a scenario.
	 * @param contenders the first one is divided by each of the others
	 * @param work what a contender does
	 * @param load the clients
	 * @param time how long one measurement takes
	 */
	SagaScenario(String name, List<? extends SagaContender> contenders, Consumer<SagaContender> work, Load load,
			Duration time) {
		this.name = name;
		this.contenders = contenders;
		this.work = work;
		this.load = load;
		this.time = time;
	}

	@Override
	public String name() {
		return this.name;
	}

	@Override
	public void round(int number, Report report) {
		Map<String, Double> rates = new HashMap<>();
		for (SagaContender contender : Rounds.inTurn(this.contenders, number)) {
			contender.tidy();
			long before = processor.getProcessCpuTime();
			Throughput done = this.load.during(this.time, () -> this.work.accept(contender));
			report.add(this.name, contender.name(), "CPU us each",
					(processor.getProcessCpuTime() - before) / 1e3 / done.count());
			rates.put(contender.name(), done.perSecond());
		}
		String first = this.contenders.get(0).name();
		double rate = Objects.requireNonNull(rates.get(first));
		for (SagaContender contender : this.contenders) {
			double other = Objects.requireNonNull(rates.get(contender.name()));
			report.add(this.name, contender.name(), "per second", other);
			if (!contender.name().equals(first)) {
				report.add(this.name, first, "/ " + contender.name(), rate / other);
			}
		}
	}

}
