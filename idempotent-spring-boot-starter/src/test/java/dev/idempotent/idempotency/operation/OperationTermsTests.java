package dev.idempotent.idempotency.operation;

import java.lang.reflect.Method;
import java.time.Duration;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link OperationTerms}.
 */
class OperationTermsTests {

	private static final OperationTerms DEFAULTS = OperationTerms.defaults(Guarantee.LEASE, Duration.ofSeconds(30),
			Duration.ofHours(24));

	@Test
	void letAnUnstatedLeaseBeAsShortAsTheRetention() throws Exception {
		OperationTerms terms = termsOf("clickedTwice");
		assertThat(terms.lease()).isEqualTo(Duration.ofSeconds(2));
		assertThat(terms.retention()).isEqualTo(Duration.ofSeconds(2));
	}

	@Test
	void leaveAnUnstatedLeaseAsItIsBelowALongerRetention() throws Exception {
		assertThat(termsOf("keptForAMinute").lease()).isEqualTo(DEFAULTS.lease());
	}

	@Test
	void refuseAStatedLeaseThatIsLongerThanTheRetention() {
		assertThatExceptionOfType(IdempotentConfigurationException.class).isThrownBy(() -> termsOf("heldForTooLong"))
			.withMessageContaining("retention of PT2S, shorter than its lease of PT3S");
		assertThatExceptionOfType(IdempotentConfigurationException.class).isThrownBy(() -> termsOf("heldForDays"))
			.withMessageContaining("retention of PT24H, shorter than its lease of PT48H");
	}

	private static OperationTerms termsOf(String name) throws NoSuchMethodException {
		Method method = Methods.class.getDeclaredMethod(name);
		return OperationTerms.of(Methods.class, method, method.getAnnotation(Idempotent.class), DEFAULTS);
	}

	static class Methods {

		@Idempotent(retention = "2s")
		void clickedTwice() {
		}

		@Idempotent(retention = "1m")
		void keptForAMinute() {
		}

		@Idempotent(retention = "2s", lease = "3s")
		void heldForTooLong() {
		}

		@Idempotent(lease = "48h")
		void heldForDays() {
		}

	}

}
