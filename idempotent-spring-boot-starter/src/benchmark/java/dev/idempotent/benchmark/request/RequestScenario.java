package dev.idempotent.benchmark.request;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;

import com.sun.management.OperatingSystemMXBean;
import dev.idempotent.benchmark.Load;
import dev.idempotent.benchmark.Report;
import dev.idempotent.benchmark.Rounds;
import dev.idempotent.benchmark.Scenario;
import dev.idempotent.benchmark.Throughput;

/**
 * Requests over HTTP: each with a key of its own, so that it runs, or all with the key of
 * a completed one, so that they are replays.
 */
final class RequestScenario implements Scenario {

	private static final OperatingSystemMXBean processor = ManagementFactory
		.getPlatformMXBean(OperatingSystemMXBean.class);

	private final List<RequestContender> contenders;

	private final Map<String, String> yardsticks;

	private final Load load;

	private final Duration time;

	/**
	 * Creates a scenario.
	 * @param contenders all of them
	 * @param yardsticks by which of them another one is divided
	 * @param load the clients
	 * @param time how long one measurement takes
	 */
	RequestScenario(List<RequestContender> contenders, Map<String, String> yardsticks, Load load, Duration time) {
		this.contenders = contenders;
		this.yardsticks = yardsticks;
		this.load = load;
		this.time = time;
	}

	@Override
	public String name() {
		return "requests";
	}

	@Override
	public void round(int number, Report report) {
		for (String path : List.of("/lease", "/transaction")) {
			measure(path + " run", number, report, path, () -> UUID.randomUUID().toString());
			String key = UUID.randomUUID().toString();
			this.contenders.forEach((contender) -> complete(contender, path, key));
			measure(path + " replay", number, report, path, () -> key);
		}
	}

	private static void complete(RequestContender contender, String path, String key) {
		try (HttpConnection connection = new HttpConnection(contender.port())) {
			connection.post(path, key);
		}
	}

	private void measure(String scenario, int number, Report report, String path, Supplier<String> keys) {
		Map<String, Cost> costs = new HashMap<>();
		for (RequestContender contender : Rounds.inTurn(this.contenders, number)) {
			if (scenario.endsWith("run")) {
				contender.tidy();
			}
			costs.put(contender.name(), measure(contender, path, keys));
		}
		this.contenders.forEach((contender) -> report(scenario, report, contender.name(), costs));
	}

	private void report(String scenario, Report report, String name, Map<String, Cost> costs) {
		Cost cost = Objects.requireNonNull(costs.get(name));
		report.add(scenario, name, "requests/s", cost.perSecond());
		report.add(scenario, name, "CPU us/request", cost.micros());
		String yardstick = this.yardsticks.get(name);
		if (yardstick != null) {
			Cost other = Objects.requireNonNull(costs.get(yardstick));
			report.add(scenario, name, "/ " + yardstick, cost.perSecond() / other.perSecond());
			report.add(scenario, name, "CPU / " + yardstick, cost.micros() / other.micros());
		}
	}

	/**
	 * Each client has a connection of its own.
	 */
	private Cost measure(RequestContender contender, String path, Supplier<String> keys) {
		Queue<HttpConnection> opened = new ConcurrentLinkedQueue<>();
		ThreadLocal<HttpConnection> own = ThreadLocal.withInitial(() -> {
			HttpConnection connection = new HttpConnection(contender.port());
			opened.add(connection);
			return connection;
		});
		try {
			long before = processor.getProcessCpuTime();
			Throughput requests = this.load.during(this.time, () -> own.get().post(path, keys.get()));
			return new Cost(requests.perSecond(), (processor.getProcessCpuTime() - before) / 1e3 / requests.count());
		}
		finally {
			opened.forEach(HttpConnection::close);
		}
	}

	/**
	 * What requests cost.
	 *
	 * @param perSecond how many there were in a second
	 * @param micros the processor time of this process, clients included, for one
	 */
	private record Cost(double perSecond, double micros) {
	}

}
