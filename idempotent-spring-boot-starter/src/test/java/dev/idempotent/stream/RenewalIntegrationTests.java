package dev.idempotent.stream;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

import dev.idempotent.stream.StreamApplication.Order;
import dev.idempotent.stream.StreamApplication.Script;
import dev.idempotent.testing.RealRedis;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for the renewal of entries whose listeners take their time.
 */
class RenewalIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	private final TestStream first = new TestStream(redis.connect());

	private final TestStream second = new TestStream(redis.connect());

	@ParameterizedTest
	@ValueSource(ints = { 0, 1 })
	void continuesForOtherStreamsWhenOneLosesItsGroup(int lost) {
		List<TestStream> streams = List.of(this.first, this.second);
		streams.forEach((stream) -> stream.add("slow"));
		CountDownLatch release = new CountDownLatch(1);
		Calls calls = new Calls((order, headers) -> release.await());
		try (ConfigurableApplicationContext instance = StreamApplication.start(TwoListeners.class, redis, calls,
				"test.first=" + this.first.name(), "test.second=" + this.second.name(),
				"idempotent.stream.min-idle-time=1s")) {
			await().until(() -> calls.count("slow") == 2);
			streams.get(lost).destroyGroup();
			TestStream other = streams.get(1 - lost);
			// Only a renewal resets the idle time.
			Duration[] last = { other.idle() };
			int[] renewals = { 0 };
			await().pollInterval(Duration.ofMillis(20)).until(() -> {
				Duration idle = other.idle();
				renewals[0] += (idle.compareTo(last[0]) < 0) ? 1 : 0;
				last[0] = idle;
				return renewals[0] == 3;
			});
			assertThat(calls.count("slow")).isEqualTo(2);
			assertThat(instance.isRunning()).isTrue();
			release.countDown();
		}
	}

	static class TwoListeners {

		private final Script script;

		TwoListeners(Script script) {
			this.script = script;
		}

		@RedisStreamListener(stream = "${test.first}", group = TestStream.GROUP)
		void onFirst(Order order, Map<String, String> headers) throws Exception {
			this.script.on(order, headers);
		}

		@RedisStreamListener(stream = "${test.second}", group = TestStream.GROUP)
		void onSecond(Order order, Map<String, String> headers) throws Exception {
			this.script.on(order, headers);
		}

	}

}
