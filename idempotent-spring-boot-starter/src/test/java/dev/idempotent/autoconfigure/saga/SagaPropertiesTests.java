package dev.idempotent.autoconfigure.saga;

import javax.sql.DataSource;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.engine.SagaAdministration;
import dev.idempotent.saga.method.SagaApplication;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Limits of the properties of sagas.
 */
class SagaPropertiesTests {

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					lease=0ms                 | idempotent.saga.lease is PT0S, but must be at least 1 ms.
					lease=25h                 | idempotent.saga.lease is PT25H, but must be at most 24h.
					wait-timeout=0            | idempotent.saga.wait-timeout is PT0S, but must be at least 1 ms.
					sweep-interval=-1s        | idempotent.saga.sweep-interval is PT-1S, but must be at least 1 ms.
					attempts=0                | idempotent.saga.attempts is 0.
					workers=0                 | idempotent.saga.workers is 0.
					step-timeout=0s           | idempotent.saga.step-timeout is PT0S, but must be at least 1 ms.
					workers-per-name=0        | idempotent.saga.workers-per-name is 0.
					retention=29s             | idempotent.saga.retention (PT29S) is shorter than idempotent.saga.lease (PT30S).
					retention=3651d           | idempotent.saga.retention is PT87624H, but must be at most 3650d.
					participant-retention=1s  | idempotent.saga.participant-retention (PT1S) is shorter than idempotent.saga.lease (PT30S).
					table-prefix=my-sagas     | idempotent.saga.table-prefix is not a valid table prefix.
					""")
	void areChecked(String property, String problem) {
		SagaApplication.with().withPropertyValues("idempotent.saga." + property).run((context) -> {
			Throwable failure = context.getStartupFailure();
			while (failure != null && !(failure instanceof IdempotentConfigurationException)) {
				failure = failure.getCause();
			}
			assertThat(failure).isNotNull().hasMessage(problem).extracting("action").asString().endsWith(".");
		});
	}

	@Test
	void nameTheTables() {
		SagaApplication.with()
			.withPropertyValues("idempotent.saga.table-prefix=public.my_", "idempotent.saga.initialize-schema=always")
			.run((context) -> {
				assertThat(context.getBean(SagaAdministration.class).inspect(new IdempotencyKey("none"))).isNull();
				assertThat(
						new JdbcTemplate(context.getBean(DataSource.class)).queryForList("select id from my_instance"))
					.isEmpty();
			});
	}

	@Test
	void areKnown() {
		SagaApplication.with()
			.withPropertyValues("idempotent.saga.leese=3s")
			.run((context) -> assertThat(context.getStartupFailure()).hasMessageContaining("idempotent.saga.leese"));
	}

}
