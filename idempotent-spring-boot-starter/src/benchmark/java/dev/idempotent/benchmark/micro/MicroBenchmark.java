package dev.idempotent.benchmark.micro;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

import dev.idempotent.benchmark.Report;
import dev.idempotent.benchmark.Settings;
import dev.idempotent.testing.RealRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Measures the steps of a request with JMH and prints a table; docs/benchmark.md says how
 * to repeat it and what the rows mean.
 */
class MicroBenchmark {

	private static final Settings settings = new Settings();

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	@Test
	void measures() throws IOException, InterruptedException {
		JmhRun jmh = new JmhRun(Path.of("target", "benchmark", "jmh"));
		jmh.compile();
		Report report = new Report();
		for (int round = 0; round < settings.number("rounds", 2); round++) {
			add(new JsonMapper().readTree(jmh.run(options())), report);
		}
		report.publish("micro", "", settings);
	}

	private static List<String> options() {
		String millis = settings.number("micro-millis", 500) + "ms";
		return List.of(settings.text("micro", ".*Micro.*"), "-bm", "avgt", "-tu", "ns", "-f", "1", "-prof", "gc", "-wi",
				settings.text("warm-up", "2"), "-w", millis, "-i", settings.text("iterations", "4"), "-r", millis,
				"-jvmArgs", "-Xmx1g -D" + ClaimMicro.REDIS + "=redis://" + redis.host() + ":" + redis.port());
	}

	private static void add(JsonNode results, Report report) {
		for (JsonNode result : results) {
			String[] name = result.get("benchmark").stringValue().split("\\.", -1);
			String scenario = name[name.length - 2] + " " + result.at("/params/size").asString("");
			String contender = name[name.length - 1];
			result.at("/primaryMetric/rawData/0")
				.forEach((time) -> report.add(scenario, contender, "ns", time.doubleValue()));
			report.add(scenario, contender, "bytes allocated",
					result.at("/secondaryMetrics/gc.alloc.rate.norm/score").doubleValue());
		}
		ratio(results, report, "fingerprint-vs-read-tree", "FingerprintMicro.readTree", "FingerprintMicro.fingerprint",
				"10000");
		ratio(results, report, "fingerprint-vs-sha-256", "FingerprintMicro.sha256", "FingerprintMicro.fingerprint",
				"10000");
		ratio(results, report, "claim-vs-lettuce", "ClaimMicro.lettuce", "ClaimMicro.store", "");
		ratio(results, report, "method-key-vs-json", "MethodMicro.json", "MethodMicro.key", "");
		ratio(results, report, "method-fingerprint-vs-json", "MethodMicro.json", "MethodMicro.fingerprint", "");
		ratio(results, report, "method-result-vs-json-and-back", "MethodMicro.jsonAndBack", "MethodMicro.result", "");
	}

	/**
	 * Adds the ratio of the rates: the times of the reference divided by ours.
	 */
	private static void ratio(JsonNode results, Report report, String name, String reference, String ours,
			String size) {
		JsonNode divided = times(results, reference, size);
		JsonNode divisor = times(results, ours, size);
		for (int i = 0; i < Math.min(divided.size(), divisor.size()); i++) {
			report.ratio(name, divided.get(i).doubleValue() / divisor.get(i).doubleValue());
		}
	}

	private static JsonNode times(JsonNode results, String benchmark, String size) {
		for (JsonNode result : results) {
			if (result.get("benchmark").stringValue().endsWith("." + benchmark)
					&& result.at("/params/size").asString("").equals(size)) {
				return result.at("/primaryMetric/rawData/0");
			}
		}
		return results.at("/missing");
	}

}
