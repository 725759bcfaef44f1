package dev.idempotent.sample.sale;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

import dev.idempotent.sample.stock.GateView;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.RedisConnectionFailureException;

import static org.assertj.core.api.Assertions.assertThat;

class SoldOutMemoryTests {

	private final AtomicInteger questions = new AtomicInteger();

	private final AtomicLong now = new AtomicLong();

	private volatile Optional<GateView> answer = Optional.of(new GateView(0, 0));

	private final SoldOutMemory memory = memory((item) -> this.answer);

	@Test
	void asksOnceForACrowd() {
		for (int i = 0; i < 1000; i++) {
			assertThat(this.memory.isSoldOut("tv")).isTrue();
		}
		assertThat(this.questions).hasValue(1);
	}

	@Test
	void asksOnceForACrowdAtAnOpenDoor() {
		this.answer = Optional.of(new GateView(1, 0));
		for (int i = 0; i < 1000; i++) {
			assertThat(this.memory.isSoldOut("tv")).isFalse();
		}
		assertThat(this.questions).hasValue(1);
	}

	@Test
	void opensWithinHalfASecondAfterAUnitHasComeBack() {
		assertThat(this.memory.isSoldOut("tv")).isTrue();
		this.answer = Optional.of(new GateView(1, 0));
		assertThat(this.memory.isSoldOut("tv")).isTrue();
		after(Duration.ofMillis(500));
		assertThat(this.memory.isSoldOut("tv")).isFalse();
	}

	@Test
	void forgetsWhatItCannotRefresh() {
		assertThat(this.memory.isSoldOut("tv")).isTrue();
		this.answer = Optional.empty();
		after(Duration.ofMillis(500));
		assertThat(this.memory.isSoldOut("tv")).isTrue();
		after(Duration.ofNanos(1));
		assertThat(this.memory.isSoldOut("tv")).isFalse();
	}

	@Test
	void keepsTheDoorOpenWhileTheGateIsUnreachable() {
		SoldOutMemory cutOff = memory((item) -> {
			throw new RedisConnectionFailureException("Redis is away");
		});
		assertThat(cutOff.isSoldOut("tv")).isFalse();
	}

	@Test
	void doesNotCountUnitsThatOnlyHaveATicketAsTaken() {
		this.answer = Optional.of(new GateView(1, 1));
		assertThat(this.memory.isSoldOut("tv")).isFalse();
	}

	@Test
	void letsOneCallerAskWhileTheOthersUseWhatIsRemembered() {
		CountDownLatch asked = new CountDownLatch(1);
		CountDownLatch answered = new CountDownLatch(1);
		SoldOutMemory slow = memory((item) -> {
			if (this.questions.get() == 2) {
				asked.countDown();
				await(answered);
			}
			return this.answer;
		});
		assertThat(slow.isSoldOut("tv")).isTrue();
		after(Duration.ofMillis(300));
		CompletableFuture<Boolean> first = CompletableFuture.supplyAsync(() -> slow.isSoldOut("tv"));
		await(asked);
		assertThat(slow.isSoldOut("tv")).isTrue();
		after(Duration.ofMillis(300));
		assertThat(slow.isSoldOut("tv")).isFalse();
		answered.countDown();
		first.join();
		assertThat(this.questions).hasValue(2);
	}

	private SoldOutMemory memory(Function<String, Optional<GateView>> gate) {
		return new SoldOutMemory((item) -> {
			this.questions.incrementAndGet();
			return gate.apply(item);
		}, this.now::get);
	}

	private void after(Duration time) {
		this.now.addAndGet(time.toNanos());
	}

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
