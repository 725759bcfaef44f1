package dev.idempotent.sample.rush;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;

import dev.idempotent.sample.rush.Answer.Kind;

/**
 * What the users of a rush were told.
 */
final class RushTally {

	private final Map<Kind, LongAdder> answers = new ConcurrentHashMap<>();

	private final LongAdder replayed = new LongAdder();

	private final AtomicInteger finished = new AtomicInteger();

	private final Map<Integer, Second> seconds = new ConcurrentSkipListMap<>();

	private final Latencies accepted = new Latencies();

	private final Latencies refused = new Latencies();

	private final Set<Promise> promises = ConcurrentHashMap.newKeySet();

	private final Map<String, AtomicInteger> keys = new ConcurrentHashMap<>();

	private volatile long start;

	private volatile long end;

	/**
	 * Notes that a user sends a request for a unit with a new key.
	 */
	void asks(String user) {
		this.keys.computeIfAbsent(user, (unseen) -> new AtomicInteger()).incrementAndGet();
	}

	/**
	 * Notes an answer to a request for a unit.
	 */
	void note(Ask ask, Answer answer) {
		promised(ask, answer);
		this.answers.computeIfAbsent(answer.kind(), (unseen) -> new LongAdder()).increment();
		if (answer.replayed()) {
			this.replayed.increment();
		}
		switch (answer.kind()) {
			case RESERVED -> {
				this.accepted.add(answer.took());
				second().accepted.increment();
			}
			case SOLD_OUT, LIMIT_REACHED -> {
				this.refused.add(answer.took());
				second().refused.increment();
			}
			default -> {
			}
		}
	}

	/**
	 * Notes an answer that must be the same if the request is repeated.
	 */
	void promised(Ask ask, Answer answer) {
		if (answer.status() == 201) {
			this.promises.add(new Promise(ask, answer.body()));
		}
	}

	/**
	 * Notes that a user found the door closed.
	 */
	void turnedAway(Answer door) {
		this.answers.computeIfAbsent(Kind.SOLD_OUT, (unseen) -> new LongAdder()).increment();
		this.refused.add(door.took());
		second().refused.increment();
	}

	void finished() {
		this.finished.incrementAndGet();
	}

	void start() {
		this.start = System.nanoTime();
	}

	void end() {
		this.end = System.nanoTime();
	}

	private Second second() {
		return this.seconds.computeIfAbsent((int) elapsed().toSeconds(), (unseen) -> new Second());
	}

	/**
	 * Returns the time until now, or until the last user had finished.
	 */
	Duration elapsed() {
		return Duration.ofNanos(((this.end != 0) ? this.end : System.nanoTime()) - this.start);
	}

	/**
	 * Returns the answers that promise a unit or an order.
	 */
	Set<Promise> promises() {
		return this.promises;
	}

	/**
	 * Returns how many keys each user has used to request units.
	 */
	Map<String, Integer> keys() {
		return this.keys.entrySet()
			.stream()
			.collect(Collectors.toMap(Map.Entry::getKey, (keys) -> keys.getValue().get()));
	}

	Figures figures() {
		Map<String, Long> answers = new LinkedHashMap<>();
		for (Kind kind : Kind.values()) {
			answers.put(kind.member(), count(kind));
		}
		double seconds = Math.max(elapsed().toMillis(), 1) / 1_000.0;
		long decided = count(Kind.RESERVED) + count(Kind.SOLD_OUT) + count(Kind.LIMIT_REACHED);
		return new Figures(this.finished.get(), answers, this.replayed.sum(), Math.round(decided / seconds),
				this.seconds.entrySet()
					.stream()
					.map((second) -> new Point(second.getKey(), second.getValue().accepted.sum(),
							second.getValue().refused.sum()))
					.toList(),
				Percentiles.of(this.accepted), Percentiles.of(this.refused));
	}

	private long count(Kind kind) {
		LongAdder count = this.answers.get(kind);
		return (count != null) ? count.sum() : 0;
	}

	/**
	 * An answer that promises something.
	 *
	 * @param ask the request
	 * @param body the body of the answer
	 */
	record Promise(Ask ask, String body) {

	}

	/**
	 * The figures of a rush.
	 *
	 * @param finished the number of users who have finished
	 * @param answers the number of answers by kind
	 * @param replayed the number of answers that were stored by an earlier request
	 * @param perSecond how many requests were accepted or refused per second
	 * @param series the same, second by second
	 */
	record Figures(int finished, Map<String, Long> answers, long replayed, long perSecond, List<Point> series,
			Percentiles acceptedMillis, Percentiles refusedMillis) {

	}

	/**
	 * The answers of one second.
	 */
	record Point(int second, long accepted, long refused) {

	}

	/**
	 * Response times in milliseconds.
	 */
	record Percentiles(double p50, double p99) {

		static Percentiles of(Latencies latencies) {
			return new Percentiles(latencies.percentile(50), latencies.percentile(99));
		}

	}

	private static final class Second {

		private final LongAdder accepted = new LongAdder();

		private final LongAdder refused = new LongAdder();

	}

}
