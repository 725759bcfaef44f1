package dev.idempotent.benchmark.outbox;

import dev.idempotent.benchmark.Load;
import dev.idempotent.benchmark.Report;
import dev.idempotent.benchmark.Scenario;

/**
 * A backlog is delivered to Kafka, beside a producer that sends as many records without
 * an outbox, before and after.
 */
final class KafkaDrainScenario implements Scenario {

	private final KafkaOutbox outbox;

	private final Load load;

	private final int backlog;

	KafkaDrainScenario(KafkaOutbox outbox, Load load, int backlog) {
		this.outbox = outbox;
		this.load = load;
		this.backlog = backlog;
	}

	@Override
	public String name() {
		return "kafka drain";
	}

	@Override
	public void round(int number, Report report) {
		drain(false, "unordered", report);
		drain(true, "10,000 keys", report);
	}

	private void drain(boolean ordered, String events, Report report) {
		this.load.times(this.backlog, () -> this.outbox.place(ordered));
		this.outbox.database().tidy();
		double before = this.outbox.sendBare(this.backlog).perSecond();
		double drained = this.outbox.drain(this.backlog).perSecond();
		double bare = (before + this.outbox.sendBare(this.backlog).perSecond()) / 2;
		report.add(name(), "producer", "records/s", bare);
		report.add(name(), this.outbox.name(), "events/s, " + events, drained);
		report.add(name(), this.outbox.name(), "  / producer, " + events, drained / bare);
		report.ratio(ordered ? "kafka-drain-ordered" : "kafka-drain", drained / bare);
	}

}
