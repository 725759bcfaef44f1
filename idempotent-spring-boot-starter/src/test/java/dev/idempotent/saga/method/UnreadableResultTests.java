package dev.idempotent.saga.method;

import java.util.List;

import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaCompensatedException;
import dev.idempotent.saga.SagaSteps;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A step in a transaction commits only if its result can be read by the next run.
 */
class UnreadableResultTests {

	@Test
	void rollsBackTheStep() {
		SagaApplication.with(Checkout.class)
			.withConfiguration(AutoConfigurations.of(JdbcTemplateAutoConfiguration.class))
			.run((context) -> {
				JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
				jdbc.execute("create table placed (id varchar(10))");
				assertThatExceptionOfType(SagaCompensatedException.class)
					.isThrownBy(() -> context.getBean(Checkout.class).place("o-1"));
				assertThat(jdbc.queryForList("select id from placed")).isEqualTo(List.of());
			});
	}

	interface Receipt {

		String id();

	}

	static class Checkout {

		private final SagaSteps saga;

		private final JdbcTemplate jdbc;

		Checkout(SagaSteps saga, JdbcTemplate jdbc) {
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
