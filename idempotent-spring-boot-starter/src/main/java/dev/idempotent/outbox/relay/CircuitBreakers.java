package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

import dev.idempotent.concurrent.OutageLog;
import dev.idempotent.outbox.OutboxTopics;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.Outcome.Scope;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.relay.LaneQueue.LaneSignal;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.backoff.BackOffExecution;
import org.springframework.util.backoff.ExponentialBackOff;

/**
 * Circuit breakers of a publisher and of each of its destinations, or of a handler. While
 * one is open, the rows of its topics are not read, except for single events that are
 * sent as probes, with growing pauses. For these, a few lanes of each topic are kept.
 */
final class CircuitBreakers {

	/**
	 * If more destinations are unavailable, the publisher counts as unavailable.
	 */
	static final int MAX_DESTINATIONS = 50;

	private static final int MAX_TOPICS = 1000;

	private static final int MAX_LANES = 100;

	private static final Logger logger = LoggerFactory.getLogger(CircuitBreakers.class);

	private static final ExponentialBackOff BACKOFF = new ExponentialBackOff(500, 2);

	static {
		BACKOFF.setJitter(500);
		BACKOFF.setMaxInterval(15_000);
	}

	private final String publisher;

	private final PausedTopics paused;

	private final LaneQueue queue;

	private final Runnable onRecovery;

	private final Circuit whole;

	private final Map<String, Circuit> topics = new LinkedHashMap<>();

	private volatile boolean closed = true;

	private boolean stopped;

	private long probes;

	/**
	 * Creates closed circuits.
	 * @param publisher the prefix, or the topic of a handler
	 * @param queue gets the lanes that were kept when their topic is available again
	 * @param onRecovery called when there may be other events that can be sent again
	 */
	CircuitBreakers(String publisher, PausedTopics paused, LaneQueue queue, Runnable onRecovery) {
		this.publisher = publisher;
		this.paused = paused;
		this.queue = queue;
		this.onRecovery = onRecovery;
		boolean handler = publisher.startsWith(OutboxTopics.HANDLERS + ":");
		this.whole = new Circuit(publisher, (handler ? "The handler of " : "The publisher of ") + publisher);
	}

	/**
	 * Whether the publisher was available at the last attempt, even if some of its
	 * destinations were not.
	 */
	synchronized boolean isClosed() {
		return !this.whole.isOpen();
	}

	/**
	 * Whether events to this topic may be sent.
	 */
	boolean isClosed(String topic) {
		return this.closed || isAvailable(topic);
	}

	private synchronized boolean isAvailable(String topic) {
		Circuit circuit = this.topics.get(topic);
		return !this.whole.isOpen() && (circuit == null || !circuit.isOpen());
	}

	/**
	 * The topics that were unavailable at the last attempt.
	 */
	synchronized Set<String> failing() {
		Set<String> failing = new HashSet<>();
		this.topics.values().stream().filter(Circuit::isOpen).forEach((circuit) -> failing.add(circuit.name));
		return failing;
	}

	/**
	 * What is unavailable.
	 * @return the publisher first, then its destinations in alphabetical order
	 */
	synchronized List<OpenCircuit> open() {
		List<OpenCircuit> open = new ArrayList<>();
		if (this.whole.isOpen()) {
			open.add(this.whole.describe(this.publisher, null));
		}
		new TreeMap<>(this.topics).forEach((topic, circuit) -> {
			if (circuit.isOpen()) {
				open.add(circuit.describe(this.publisher, topic));
			}
		});
		return open;
	}

	/**
	 * Keeps a lane to probe its topic with, unless the topic is available.
	 * @return whether the topic is unavailable
	 */
	synchronized boolean keep(LaneSignal signal) {
		if (isAvailable(signal.topic())) {
			return false;
		}
		Circuit topic = this.topics.get(signal.topic());
		if (topic == null && this.topics.size() < MAX_TOPICS) {
			topic = destination(signal.topic());
		}
		if (topic != null && topic.lanes.size() < MAX_LANES) {
			topic.lanes.putIfAbsent(signal.lane(), signal);
			topic.endIdle();
			this.whole.endIdle();
			notifyAll();
		}
		return true;
	}

	/**
	 * Waits for the next probe.
	 * @return a lane, or {@code null} if there is none after some time
	 */
	@SuppressWarnings("WaitNotInLoop") // It may return none.
	synchronized @Nullable LaneSignal awaitProbe(Duration patience) throws InterruptedException {
		LaneSignal probe = nextProbe();
		if (probe == null && !this.stopped) {
			wait(this.closed ? patience.toMillis() : untilProbe(patience));
			probe = nextProbe();
		}
		return probe;
	}

	/**
	 * Ends all waiting.
	 */
	synchronized void stop() {
		this.stopped = true;
		notifyAll();
	}

	private long untilProbe(Duration patience) {
		long next = this.whole.isOpen() ? this.whole.untilDue()
				: this.topics.values()
					.stream()
					.filter((topic) -> topic.isOpen() && !this.paused.contains(topic.name))
					.mapToLong(Circuit::untilDue)
					.min()
					.orElse(Long.MAX_VALUE);
		return Math.max(1, Math.min(patience.toMillis(), TimeUnit.NANOSECONDS.toMillis(next) + 1));
	}

	/**
	 * An unavailable publisher is probed with one topic after the other, because some of
	 * them may be unavailable for longer.
	 */
	private @Nullable LaneSignal nextProbe() {
		if (this.closed) {
			return null;
		}
		if (!this.whole.isOpen()) {
			return openTopic().filter(Circuit::isDue).map(this::probe).orElse(null);
		}
		if (!this.whole.isDue()) {
			return null;
		}
		Optional<Circuit> topic = this.topics.values()
			.stream()
			.filter((circuit) -> !circuit.lanes.isEmpty() && !this.paused.contains(circuit.name))
			.min(Comparator.comparingLong((circuit) -> circuit.lastProbe));
		if (topic.isEmpty()) {
			awaitLane(this.whole);
		}
		return topic.map(this::probe).orElse(null);
	}

	/**
	 * The unavailable topic whose probe is due first.
	 */
	private Optional<Circuit> openTopic() {
		return this.topics.values()
			.stream()
			.filter((topic) -> topic.isOpen() && !this.paused.contains(topic.name))
			.min(Comparator.comparingLong(Circuit::untilDue));
	}

	private @Nullable LaneSignal probe(Circuit topic) {
		if (topic.lanes.isEmpty()) {
			awaitLane(topic);
			return null;
		}
		topic.lastProbe = ++this.probes;
		return topic.lanes.remove(topic.lanes.keySet().iterator().next());
	}

	/**
	 * Waits for an event to probe with; another instance may have leased it. Closes the
	 * circuit if there is none for a while: the next event then shows whether it is
	 * available.
	 */
	private void awaitLane(Circuit circuit) {
		if (!circuit.startIdle()) {
			if (circuit.logged) {
				logger.info("{} counts as available again, after {}, because no event is left to probe it with",
						circuit.title, circuit.failingFor());
			}
			circuit.close();
			recovered();
		}
	}

	/**
	 * Records the outcomes of a batch. Any response shows that the publisher is
	 * available.
	 */
	synchronized void record(List<SerializedEvent> events, List<Outcome> outcomes) {
		Set<String> answered = new HashSet<>();
		Map<String, Outcome.Unavailable> silent = new LinkedHashMap<>();
		for (int i = 0; i < events.size(); i++) {
			if (outcomes.get(i) instanceof Outcome.Unavailable unavailable) {
				silent.putIfAbsent(events.get(i).topic(), unavailable);
			}
			else {
				answered.add(events.get(i).topic());
			}
		}
		silent.keySet().removeAll(answered);
		if (this.closed && silent.isEmpty()) {
			return;
		}
		if (answered.isEmpty()) {
			openPublisher(silent);
		}
		else {
			close(answered);
		}
		silent.forEach(this::open);
		this.closed = isAllClosed();
		notifyAll();
	}

	private void openPublisher(Map<String, Outcome.Unavailable> silent) {
		boolean tooMany = !failing().containsAll(silent.keySet()) && failing().size() >= MAX_DESTINATIONS;
		silent.values()
			.stream()
			.filter((outcome) -> tooMany || outcome.scope() == Scope.PUBLISHER)
			.findFirst()
			.ifPresent((outcome) -> {
				if (!this.whole.isOpen()) {
					this.whole.logged = true;
					logger.warn("{} is unavailable; events are kept until it recovers: {}", this.whole.title,
							outcome.reason());
				}
				this.whole.failed();
			});
	}

	private void open(String name, Outcome.Unavailable outcome) {
		Circuit topic = this.topics.get(name);
		if ((topic == null || !topic.isOpen()) && failing().size() >= MAX_DESTINATIONS) {
			return;
		}
		topic = (topic != null) ? topic : destination(name);
		topic.failed();
		if (!this.whole.isOpen() && !topic.logged) {
			topic.logged = true;
			logger.warn("{} is unavailable; its events are kept until it recovers: {}", topic.title, outcome.reason());
		}
	}

	private Circuit destination(String name) {
		return this.topics.computeIfAbsent(name, (key) -> new Circuit(key, "The destination " + key));
	}

	private void close(Set<String> answered) {
		boolean recovery = this.whole.isOpen();
		if (recovery) {
			logger.info("{} is available again, after {}", this.whole.title, this.whole.failingFor());
			this.whole.close();
			this.topics.values().stream().filter(Circuit::isOpen).forEach(Circuit::endBackoff);
		}
		for (String name : answered) {
			Circuit topic = this.topics.get(name);
			if (topic != null && topic.isOpen()) {
				if (topic.logged) {
					logger.info("{} is available again, after {}", topic.title, topic.failingFor());
				}
				topic.close();
				recovery = true;
			}
		}
		if (recovery) {
			recovered();
		}
	}

	/**
	 * Wakes the kept lanes of available topics. Further ones were not kept.
	 */
	private void recovered() {
		this.topics.values().removeIf((topic) -> {
			boolean available = !this.whole.isOpen() && !topic.isOpen();
			if (available) {
				topic.lanes.values().forEach((signal) -> this.queue.add(signal.fromStart()));
			}
			return available;
		});
		this.closed = isAllClosed();
		this.onRecovery.run();
	}

	private boolean isAllClosed() {
		return !this.whole.isOpen() && this.topics.values().stream().noneMatch(Circuit::isOpen);
	}

	/**
	 * The circuit of the publisher or a topic. A topic has one, too, while its lanes are
	 * kept for the publisher.
	 */
	private static final class Circuit {

		/**
		 * How long to wait for an event to probe with.
		 */
		private static final Duration IDLE_TIME = Duration.ofSeconds(15);

		private final String name;

		private final String title;

		private final Map<Long, LaneSignal> lanes = new LinkedHashMap<>();

		private @Nullable BackOffExecution failures;

		private long firstFailure;

		private long nextProbe;

		private long lastProbe;

		private boolean idle;

		private boolean logged;

		Circuit(String name, String title) {
			this.name = name;
			this.title = title;
		}

		boolean isOpen() {
			return this.failures != null;
		}

		boolean isDue() {
			return System.nanoTime() - this.nextProbe >= 0;
		}

		/**
		 * How many nanoseconds until the next probe.
		 */
		long untilDue() {
			return Math.max(0, this.nextProbe - System.nanoTime());
		}

		String failingFor() {
			return OutageLog.describe(Duration.ofNanos(System.nanoTime() - this.firstFailure));
		}

		OpenCircuit describe(String publisher, @Nullable String topic) {
			return new OpenCircuit(publisher, topic, Duration.ofNanos(System.nanoTime() - this.firstFailure),
					Duration.ofNanos(untilDue()));
		}

		void failed() {
			this.idle = false;
			if (this.failures == null) {
				this.failures = BACKOFF.start();
				this.firstFailure = System.nanoTime();
			}
			this.nextProbe = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(this.failures.nextBackOff());
		}

		void endBackoff() {
			this.idle = false;
			this.nextProbe = System.nanoTime();
		}

		/**
		 * Records that there is no event to probe with.
		 * @return whether this is so for the first time in a row
		 */
		boolean startIdle() {
			boolean first = !this.idle;
			this.idle = true;
			this.nextProbe = System.nanoTime() + IDLE_TIME.toNanos();
			return first;
		}

		/**
		 * Records that there is an event to probe with.
		 */
		void endIdle() {
			if (this.idle) {
				endBackoff();
			}
		}

		void close() {
			this.idle = false;
			this.logged = false;
			this.failures = null;
		}

	}

}
