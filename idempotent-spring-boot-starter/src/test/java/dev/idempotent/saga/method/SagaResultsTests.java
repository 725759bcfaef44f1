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
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;

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

	@Test
	void areNotCommittedByAStepIfTheNextRunCannotReadThem() {
		SagaApplication.with(Placement.class)
			.withConfiguration(AutoConfigurations.of(JdbcTemplateAutoConfiguration.class))
			.run((context) -> {
				JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
				jdbc.execute("create table placed (id varchar(10))");
				assertThatExceptionOfType(SagaCompensatedException.class)
					.isThrownBy(() -> context.getBean(Placement.class).place("o-1"));
				assertThat(jdbc.queryForList("select id from placed")).isEqualTo(List.of());
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

	interface Receipt {

		String id();

	}

	static class Placement {

		private final SagaSteps saga;

		private final JdbcTemplate jdbc;

		Placement(SagaSteps saga, JdbcTemplate jdbc) {
			this.saga = saga;
			this.jdbc = jdbc;
		}

		@Saga(key = "#id", name = "Checkout.place")
		public String place(String id) {
			return this.saga.step("place", Receipt.class).runInTransaction(() -> {
				this.jdbc.update("insert into placed values (?)", id);
				return () -> id;
			}).id();
		}

	}

}
