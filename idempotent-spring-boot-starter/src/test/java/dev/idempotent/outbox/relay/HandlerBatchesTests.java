package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import dev.idempotent.outbox.OutboxSamples;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.jdbc.ClaimedEvent;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link HandlerBatches}.
 */
class HandlerBatchesTests {

	private final Together handler = new Together();

	private final HandlerBatches batches = new HandlerBatches(this.handler, (failure) -> {
	});

	private List<Outcome> handle(int events) {
		return this.batches.handle(IntStream.range(0, events).mapToObj(HandlerBatchesTests::claim).toList(),
				() -> this.handler.calls.size() < 200);
	}

	private static ClaimedEvent claim(int number) {
		return new ClaimedEvent(number,
				OutboxSamples.event("handlers:test", null, Integer.toString(number), new byte[0], Map.of()), null,
				Duration.ZERO, true);
	}

	@Test
	void handlesAllInOneCall() {
		assertThat(handle(100)).hasSize(100).allMatch(Outcome.Delivered.class::isInstance);
		assertThat(this.handler.calls).containsExactly(100);
	}

	@Test
	void findsAnEventThatAlwaysFails() {
		this.handler.failing = Set.of("37");
		List<Outcome> outcomes = handle(100);
		assertThat(outcomes.get(37)).isInstanceOf(Outcome.Retry.class);
		assertThat(outcomes).filteredOn(Outcome.Delivered.class::isInstance).hasSize(99);
		assertThat(this.handler.calls).hasSizeLessThan(2 * 8).contains(1);
	}

	@Test
	void findsEachOfSeveral() {
		this.handler.failing = Set.of("0", "41", "42", "99");
		List<Outcome> outcomes = handle(100);
		assertThat(IntStream.range(0, 100).filter((i) -> !(outcomes.get(i) instanceof Outcome.Delivered)))
			.containsExactly(0, 41, 42, 99);
	}

	/**
	 * Of a service that is away.
	 */
	@Test
	void leavesTheRestIfNoneSucceeds() {
		this.handler.failing = Set.copyOf(IntStream.range(0, 100).mapToObj(Integer::toString).toList());
		List<Outcome> outcomes = handle(100);
		assertThat(outcomes).filteredOn(Outcome.Retry.class::isInstance).hasSize(FailureStreak.FAILURES);
		assertThat(outcomes).filteredOn((outcome) -> outcome == BatchSettlement.NOT_SENT)
			.hasSize(100 - FailureStreak.FAILURES);
		assertThat(this.handler.calls).hasSizeLessThan(30);
	}

	@Test
	void beginsNothingWithoutTime() {
		List<Outcome> outcomes = this.batches.handle(List.of(claim(1), claim(2)), () -> false);
		assertThat(outcomes).containsExactly(BatchSettlement.NOT_SENT, BatchSettlement.NOT_SENT);
		assertThat(this.handler.calls).isEmpty();
	}

	/**
	 * As its calls fail by a time-out. Each round is what is claimed at once.
	 */
	@Test
	void findsAnEventWhoseFailuresTakeAllTheTime() {
		for (int callsInTime = 1; callsInTime < 7; callsInTime++) {
			for (int failing = 0; failing < 64; failing += 21) {
				this.handler.failing = Set.of(Integer.toString(failing));
				assertThat(rounds(64, callsInTime)).containsExactly(failing);
			}
		}
	}

	/**
	 * Handles events until each was handled, or has failed alone.
	 * @return those that have failed
	 */
	private List<Integer> rounds(int events, int callsInTime) {
		HandlerBatches own = new HandlerBatches(this.handler, (failure) -> {
		});
		List<ClaimedEvent> left = new ArrayList<>(
				IntStream.range(0, events).mapToObj(HandlerBatchesTests::claim).toList());
		List<Integer> failed = new ArrayList<>();
		for (int round = 0; round < 100 && !left.isEmpty(); round++) {
			List<ClaimedEvent> next = left.stream().filter((claim) -> !own.isUnresolved(claim.place())).toList();
			List<ClaimedEvent> claims = next.isEmpty() ? List.of(left.get(0)) : next;
			this.handler.calls.clear();
			List<Outcome> outcomes = own.handle(claims, () -> this.handler.calls.size() < callsInTime);
			for (int i = 0; i < claims.size(); i++) {
				if (outcomes.get(i) instanceof Outcome.Retry) {
					failed.add((int) claims.get(i).lane());
				}
				if (outcomes.get(i) != BatchSettlement.NOT_SENT) {
					left.remove(claims.get(i));
				}
			}
		}
		assertThat(left).isEmpty();
		return failed;
	}

	@Test
	void suspectsNoneOnceTheEventIsFound() {
		this.handler.failing = Set.of("0");
		List<ClaimedEvent> claims = IntStream.range(0, 4).mapToObj(HandlerBatchesTests::claim).toList();
		List<Outcome> outcomes = this.batches.handle(claims, () -> this.handler.calls.size() < 3);
		assertThat(outcomes.get(0)).isInstanceOf(Outcome.Retry.class);
		assertThat(outcomes.subList(1, 4)).containsOnly(BatchSettlement.NOT_SENT);
		assertThat(claims).noneMatch((claim) -> this.batches.isUnresolved(claim.place()));
	}

	@Test
	void suspectsAnEventUntilItWasHandled() {
		this.handler.failing = Set.of("1");
		List<ClaimedEvent> claims = List.of(claim(1), claim(2));
		assertThat(this.batches.handle(claims, () -> this.handler.calls.isEmpty()))
			.containsOnly(BatchSettlement.NOT_SENT);
		assertThat(claims).allMatch((claim) -> this.batches.isUnresolved(claim.place()));
		claims.forEach((claim) -> assertThat(this.batches.handle(List.of(claim), () -> true)).hasSize(1));
		assertThat(claims).map((claim) -> this.batches.isUnresolved(claim.place())).containsExactly(true, false);
	}

	@Test
	void handlesTheRestOfABatchWithoutThoseThatCannotBeRead() {
		this.handler.unreadable = Set.of("1");
		List<Outcome> outcomes = handle(3);
		assertThat(EventHandler.isLeftToOthers(outcomes.get(1))).isTrue();
		assertThat(outcomes).filteredOn(Outcome.Delivered.class::isInstance).hasSize(2);
		assertThat(this.handler.calls).containsExactly(3);
	}

	private static final class Together extends TestHandler {

		private final List<Integer> calls = new ArrayList<>();

		private Set<String> failing = Set.of();

		private Set<String> unreadable = Set.of();

		@Override
		public List<Outcome> handleTogether(List<ClaimedEvent> claims, Consumer<Throwable> failures) {
			this.calls.add(claims.size());
			boolean fails = claims.stream().anyMatch((claim) -> this.failing.contains(claim.event().type()));
			return claims.stream()
				.map((claim) -> this.unreadable.contains(claim.event().type()) ? EventHandler.leftToOthers("unreadable")
						: fails ? new Outcome.Retry("failed", null) : new Outcome.Delivered())
				.toList();
		}

		@Override
		public Outcome handle(ClaimedEvent claim, Consumer<Throwable> failures) {
			throw new IllegalStateException();
		}

		@Override
		public String topic() {
			return "handlers:test";
		}

		@Override
		public Duration lease() {
			return Duration.ofMinutes(1);
		}

	}

}
