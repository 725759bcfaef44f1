package dev.idempotent.stream;

import dev.idempotent.stream.StreamApplication.Script;
import dev.idempotent.testing.RealRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for workers that meet an {@link Error}.
 */
class WorkerErrorsIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@Test
	void continueAfterIt() {
		TestStream stream = new TestStream(redis.connect());
		Calls calls = new Calls((order, headers) -> {
			if (order.id().equals("bad")) {
				throw new IllegalStateException("bad");
			}
		});
		try (ConfigurableApplicationContext instance = StreamApplication.start(WithBrokenPolicy.class, redis, calls,
				stream.property())) {
			stream.add("bad");
			await().until(() -> calls.count("bad") >= 1);
			stream.add("good");
			await().until(() -> calls.count("good") == 1);
			assertThat(instance.isRunning()).isTrue();
		}
	}

	static class WithBrokenPolicy extends OrderListener {

		WithBrokenPolicy(Script script) {
			super(script);
		}

		@Bean
		RedeliveryPolicy brokenPolicy() {
			return (failure) -> {
				throw new NoClassDefFoundError("of the test");
			};
		}

	}

}
