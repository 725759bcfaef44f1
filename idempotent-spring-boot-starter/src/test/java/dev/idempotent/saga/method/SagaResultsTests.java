package dev.idempotent.saga.method;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaCompensatedException;
import dev.idempotent.saga.SagaSteps;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Arguments and results of sagas are domain models as they are, or are refused before
 * anything is done.
 */
@ExtendWith(OutputCaptureExtension.class)
class SagaResultsTests {

	@Test
	void areRefusedBeforeTheStepIfTheyCannotBeCompared(CapturedOutput output) {
		SagaApplication.with(Checkout.class).run((context) -> {
			Checkout checkout = context.getBean(Checkout.class);
			assertThatExceptionOfType(SagaCompensatedException.class).isThrownBy(() -> checkout.count("o-1"));
			assertThat(output).contains("step 'count'", "cannot be compared", "The work was not run");
			assertThat(checkout.done()).isEmpty();
		});
	}

	@Test
	void areRecordedWithWhatTheyComputeWhateverTheMapper() {
		SagaApplication.with(Checkout.class)
			.withConfiguration(AutoConfigurations.of(JacksonAutoConfiguration.class))
			.withPropertyValues("spring.jackson.deserialization.fail-on-unknown-properties=true")
			.run((context) -> {
				Checkout checkout = context.getBean(Checkout.class);
				assertThat(checkout.charge("o-1", new Charge()).getGross()).isEqualTo("11.90");
				assertThat(checkout.charge("o-1", new Charge()).getGross()).isEqualTo("11.90");
				assertThat(checkout.done()).containsExactly("charged");
			});
	}

	static class Charge {

		public BigDecimal net = BigDecimal.TEN;

		public BigDecimal getGross() {
			return this.net.multiply(new BigDecimal("1.19"));
		}

	}

	record Counted(AtomicInteger count) {
	}

	static class Checkout {

		private final SagaSteps saga;

		private final List<String> done = new ArrayList<>();

		Checkout(SagaSteps saga) {
			this.saga = saga;
		}

		public List<String> done() {
			return this.done;
		}

		@Saga(key = "#id", name = "count")
		public void count(String id) {
			this.saga.step("count", Counted.class).compensate((counted) -> this.done.add("undone")).run(() -> {
				this.done.add("counted");
				return new Counted(new AtomicInteger(1));
			});
		}

		@Saga(key = "#id", name = "charge")
		public Charge charge(String id, Charge charge) {
			return this.saga.step("charge", Charge.class).compensate((made) -> this.done.add("undone")).run(() -> {
				this.done.add("charged");
				return charge;
			});
		}

	}

}
