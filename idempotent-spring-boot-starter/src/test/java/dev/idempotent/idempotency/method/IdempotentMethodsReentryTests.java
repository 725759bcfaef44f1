package dev.idempotent.idempotency.method;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.operation.OperationTerms;
import org.junit.jupiter.api.Test;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for methods that are asked for while another is read.
 */
class IdempotentMethodsReentryTests {

	@Test
	void readsOthersWhileTheDefaultsAreMade() throws Exception {
		AtomicReference<IdempotentMethods> methods = new AtomicReference<>();
		methods.set(new IdempotentMethods(() -> {
			ReflectionUtils.doWithMethods(String.class,
					(other) -> assertThat(methods.get().guaranteeOf(other, String.class)).isNull());
			return OperationTerms.defaults(Guarantee.LEASE, Duration.ofSeconds(1), Duration.ofHours(1));
		}, () -> {
			throw new IllegalStateException("Nothing runs here");
		}, (type, method) -> false));
		Method place = UnfitMethods.Plain.class.getMethod("place", String.class);
		assertThat(methods.get().guaranteeOf(place, UnfitMethods.Plain.class)).isEqualTo(Guarantee.LEASE);
	}

}
