package dev.idempotent.idempotency.engine;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

import dev.idempotent.idempotency.engine.ClaimRequest.TokenIds;
import dev.idempotent.testing.ConcurrentRuns;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link ClaimRequest.TokenIds}.
 */
class ClaimRequestTests {

	private final AtomicLong clock = new AtomicLong(1_000);

	private final TokenIds ids = new TokenIds(this.clock::get);

	@Test
	void areUuidsOfVersion8() {
		assertThat(Stream.generate(this.ids::next).limit(100)).allSatisfy((id) -> {
			UUID uuid = UUID.fromString(id);
			assertThat(uuid).hasToString(id);
			assertThat(uuid.version()).isEqualTo(8);
			assertThat(uuid.variant()).isEqualTo(2);
		});
	}

	@Test
	void differAmongThreads() throws InterruptedException {
		TokenIds shared = new TokenIds();
		List<List<String>> drawn = ConcurrentRuns.of(8,
				(runner) -> Stream.generate(shared::next).limit(5_000).toList());
		Set<String> distinct = new HashSet<>();
		drawn.forEach(distinct::addAll);
		assertThat(distinct).hasSize(8 * 5_000);
	}

	@Test
	void beginDifferentlyInEachProcess() {
		assertThat(prefix(new TokenIds(this.clock::get))).isNotEqualTo(prefix(this.ids));
	}

	@Test
	void beginDifferentlyAfterATenthOfASecond() {
		String first = prefix(this.ids);
		this.clock.addAndGet(99);
		assertThat(prefix(this.ids)).isEqualTo(first);
		this.clock.addAndGet(1);
		assertThat(prefix(this.ids)).isNotEqualTo(first);
	}

	@Test
	void beginDifferentlyAfterTheClockWasSetBack() {
		String first = prefix(this.ids);
		this.clock.decrementAndGet();
		assertThat(prefix(this.ids)).isNotEqualTo(first);
	}

	private static String prefix(TokenIds ids) {
		return ids.next().substring(0, 18);
	}

}
