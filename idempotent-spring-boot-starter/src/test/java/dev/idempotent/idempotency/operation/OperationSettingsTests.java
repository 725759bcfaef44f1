package dev.idempotent.idempotency.operation;

import java.lang.reflect.Method;
import java.time.Duration;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link OperationSettings}.
 */
class OperationSettingsTests {

	private static final OperationSettings DEFAULTS = OperationSettings.defaults(Guarantee.LEASE,
			Duration.ofSeconds(30), Duration.ofHours(24));

	@Test
	void letAnUnstatedLeaseBeAsShortAsTheRetention() throws Exception {
		OperationSettings settings = settingsOf("clickedTwice");
		assertThat(settings.lease()).isEqualTo(Duration.ofSeconds(2));
		assertThat(settings.retention()).isEqualTo(Duration.ofSeconds(2));
	}

	@Test
	void leaveAnUnstatedLeaseAsItIsBelowALongerRetention() throws Exception {
		assertThat(settingsOf("keptForAMinute").lease()).isEqualTo(DEFAULTS.lease());
	}

	@Test
	void refuseAStatedLeaseThatIsLongerThanTheRetention() {
		assertThatExceptionOfType(IdempotentConfigurationException.class).isThrownBy(() -> settingsOf("heldForTooLong"))
			.withMessageContaining("retention of PT2S, shorter than its lease of PT3S");
		assertThatExceptionOfType(IdempotentConfigurationException.class).isThrownBy(() -> settingsOf("heldForDays"))
			.withMessageContaining("retention of PT24H, shorter than its lease of PT48H");
	}

	@Test
	void refuseANameWithAPlaceholder() {
		assertThatExceptionOfType(IdempotentConfigurationException.class).isThrownBy(() -> settingsOf("named"))
			.withMessageContaining("name '${shop.name}'");
	}

	@ParameterizedTest
	@ValueSource(strings = { "blank", "spaced", "foreign", "dotted", "long" })
	void refuseAnInvalidName(String method) {
		assertThatExceptionOfType(IdempotentConfigurationException.class).isThrownBy(() -> settingsOf(method + "Name"))
			.withMessageContaining("has the invalid name '")
			.satisfies((ex) -> assertThat(ex.getAction()).startsWith("Set a name of at most 100 letters"));
	}

	@Test
	void takeTheNameOfTheAnnotation() throws Exception {
		assertThat(settingsOf("wellNamed").name()).isEqualTo("Order_2.place-now");
	}

	private static OperationSettings settingsOf(String name) throws NoSuchMethodException {
		Method method = Methods.class.getDeclaredMethod(name);
		return OperationSettings.of(Methods.class, method, method.getAnnotation(Idempotent.class), DEFAULTS);
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

		@Idempotent(name = " ")
		void blankName() {
		}

		@Idempotent(name = "place order")
		void spacedName() {
		}

		@Idempotent(name = "überweisen")
		void foreignName() {
		}

		@Idempotent(name = ".place")
		void dottedName() {
		}

		@Idempotent(name = "A23456789.123456789.123456789.123456789.123456789.123456789.123456789.123456789.123456789."
				+ "123456789.1")
		void longName() {
		}

		@Idempotent(name = "Order_2.place-now")
		void wellNamed() {
		}

		@Idempotent(name = "${shop.name}")
		void named() {
		}

		@Idempotent(lease = "48h")
		void heldForDays() {
		}

	}

}
