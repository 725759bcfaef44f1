package dev.idempotent.idempotency.method;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.operation.OperationNames;
import dev.idempotent.idempotency.operation.OperationSettings;
import org.junit.jupiter.api.Test;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link IdempotentMethodAdvisor}.
 */
class IdempotentMethodAdvisorTests {

	@Test
	void matchesOtherMethodsWhileTheDefaultsAreCreated() throws Exception {
		AtomicReference<IdempotentMethodAdvisor> advisor = new AtomicReference<>();
		advisor.set(new IdempotentMethodAdvisor(Guarantee.LEASE, () -> {
			ReflectionUtils.doWithMethods(String.class,
					(other) -> assertThat(advisor.get().matches(other, String.class)).isFalse());
			return OperationSettings.defaults(Guarantee.LEASE, Duration.ofSeconds(1), Duration.ofHours(1));
		}, () -> {
			throw new IllegalStateException("No call is run here");
		}, (type, method) -> false, new OperationNames()));
		Method place = InvalidMethods.Plain.class.getMethod("place", String.class);
		assertThat(advisor.get().matches(place, InvalidMethods.Plain.class)).isTrue();
	}

}
