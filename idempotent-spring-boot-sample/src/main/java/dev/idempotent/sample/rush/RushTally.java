package dev.idempotent.sample.rush;

import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import dev.idempotent.sample.rush.Answer.Kind;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.springframework.http.HttpStatus;

/**
 * What the users of a rush were told.
 */
final class RushTally {

	private final Map<Kind, Long> answers = new ConcurrentHashMap<>();

	private final AtomicInteger replayed = new AtomicInteger();

	private final AtomicInteger finished = new AtomicInteger();

	private final AtomicInteger requestedFailures = new AtomicInteger();

	private final AtomicInteger outages = new AtomicInteger();

	private final AtomicInteger givenUp = new AtomicInteger();

	private final Map<Long, Point> series = new ConcurrentSkipListMap<>();

	private final Timer accepted = timer();

	private final Timer refused = timer();

	private final Set<Promise> promises = ConcurrentHashMap.newKeySet();

	private final Map<String, Integer> keys = new ConcurrentHashMap<>();

	private volatile long start;

	private volatile long end;

	private static Timer timer() {
		return Timer.builder("answers")
			.publishPercentiles(0.5, 0.99)
			.percentilePrecision(3)
			.distributionStatisticExpiry(Duration.ofDays(1))
			.register(new SimpleMeterRegistry());
	}

	void start() {
		this.start = System.nanoTime();
	}

	void end() {
		this.end = System.nanoTime();
	}

	/**
	 * Notes that a user has nothing more to do.
	 */
	void finished() {
		this.finished.incrementAndGet();
	}

	/**
	 * Notes that a user is about to request a unit with a new key.
	 */
	void asks(String user) {
		this.keys.merge(user, 1, Integer::sum);
	}

	/**
	 * Notes an answer to a request for a unit.
	 */
	void note(Ask ask, Answer answer) {
		promised(ask, answer);
		if (answer.replayed()) {
			this.replayed.incrementAndGet();
		}
		if (answer.status() == HttpStatus.SERVICE_UNAVAILABLE.value()) {
			this.outages.incrementAndGet();
		}
		count(answer.kind(), answer.took());
	}

	/**
	 * Notes the answer to a request that the shop was asked to fail: at the gate it may
	 * have been refused before it could.
	 */
	void noteRequestedFailure(Answer answer) {
		if (answer.status() == HttpStatus.INTERNAL_SERVER_ERROR.value()) {
			this.requestedFailures.incrementAndGet();
		}
	}

	/**
	 * Notes that a user has repeated a request for a unit to no avail.
	 */
	void givesUp() {
		this.givenUp.incrementAndGet();
	}

	/**
	 * Notes that a user has found the door closed.
	 */
	void turnedAway(Answer door) {
		count(Kind.SOLD_OUT, door.took());
	}

	/**
	 * Notes an answer that must be the same when the request is repeated.
	 */
	void promised(Ask ask, Answer answer) {
		if (answer.status() == 201) {
			this.promises.add(new Promise(ask, answer.body()));
		}
	}

	private void count(Kind kind, Duration took) {
		this.answers.merge(kind, 1L, Long::sum);
		switch (kind) {
			case RESERVED -> {
				this.accepted.record(took);
				count(1, 0);
			}
			case SOLD_OUT, LIMIT_REACHED -> {
				this.refused.record(took);
				count(0, 1);
			}
			default -> {
			}
		}
	}

	private void count(long accepted, long refused) {
		long second = TimeUnit.NANOSECONDS.toSeconds(nanos());
		this.series.merge(second, new Point(second, accepted, refused), Point::plus);
	}

	private long nanos() {
		return ((this.end != 0) ? this.end : System.nanoTime()) - this.start;
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
		return Map.copyOf(this.keys);
	}

	Figures figures() {
		Map<Kind, Long> answers = new EnumMap<>(Kind.class);
		for (Kind kind : Kind.values()) {
			answers.put(kind, this.answers.getOrDefault(kind, 0L));
		}
		List<Point> series = List.copyOf(this.series.values());
		long decided = series.stream().mapToLong((point) -> point.accepted() + point.refused()).sum();
		return new Figures(this.finished.get(), answers, this.replayed.get(),
				new Failures(this.requestedFailures.get(), this.outages.get(), this.givenUp.get()),
				TimeUnit.SECONDS.toNanos(decided) / Math.max(nanos(), 1), series, Percentiles.of(this.accepted),
				Percentiles.of(this.refused));
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
	 * @param answers the number of answers to requests for a unit, by kind
	 * @param replayed how many of them were stored by an earlier request
	 * @param failures why some of them have failed
	 * @param perSecond how many requests were accepted or refused per second
	 * @param series the same, second by second
	 */
	record Figures(int finished, Map<Kind, Long> answers, int replayed, Failures failures, long perSecond,
			List<Point> series, Percentiles acceptedMillis, Percentiles refusedMillis) {

	}

	/**
	 * Why requests have failed, and what has become of them.
	 *
	 * @param requested how many failed because the rush had requested it
	 * @param outages how many got 503, because Redis or PostgreSQL did not respond
	 * @param givenUp how many requests got no final answer, however often they were
	 * repeated
	 */
	record Failures(int requested, int outages, int givenUp) {

	}

	/**
	 * The answers of one second.
	 */
	record Point(long second, long accepted, long refused) {

		Point plus(Point more) {
			return new Point(this.second, this.accepted + more.accepted, this.refused + more.refused);
		}

	}

	/**
	 * Response times in milliseconds.
	 */
	record Percentiles(double p50, double p99) {

		static Percentiles of(Timer timer) {
			double[] millis = Stream.of(timer.takeSnapshot().percentileValues())
				.mapToDouble((percentile) -> percentile.value(TimeUnit.MILLISECONDS))
				.toArray();
			return new Percentiles(millis[0], millis[1]);
		}

	}

}
