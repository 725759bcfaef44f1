package dev.idempotent.autoconfigure.outbox;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link OutboxAutoConfiguration} on PostgreSQL.
 */
class OutboxAutoConfigurationIntegrationTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Test
	void startsWithCachedIdsOnlyIfKeysDoNotOrderEvents() {
		ApplicationContextRunner application = OutboxApplication.with()
			.withPropertyValues(postgres.properties().toArray(String[]::new))
			.withPropertyValues("idempotent.outbox.table-prefix=cached_ids_");
		application.run((context) -> {
			assertThat(context).hasNotFailed();
			context.getBean(JdbcTemplate.class).execute("alter table cached_ids_event alter column id set cache 20");
		});
		for (String relay : new String[] { "true", "false" }) {
			application.withPropertyValues("idempotent.outbox.order=key", "idempotent.outbox.relay.enabled=" + relay)
				.run((context) -> assertThat(context).getFailure()
					.rootCause()
					.isInstanceOf(IdempotentConfigurationException.class)
					.hasMessageContaining("cached_ids_event.id"));
		}
		application.withPropertyValues("idempotent.outbox.order=none")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@CsvSource({ "idempotent.outbox.table-prefix=nowhere.outbox_, schema \"nowhere\" does not exist",
			"spring.datasource.hikari.schema=nowhere, no schema has been selected to create in" })
	void doesNotStartIfItsSchemaIsMissing(String property, String reason) {
		OutboxApplication.with()
			.withPropertyValues(postgres.properties().toArray(String[]::new))
			.withPropertyValues(property)
			.run((context) -> {
				Throwable failure = context.getStartupFailure();
				while (failure != null && !(failure instanceof IdempotentConfigurationException)) {
					failure = failure.getCause();
				}
				assertThat(failure).isInstanceOfSatisfying(IdempotentConfigurationException.class,
						(mistake) -> assertThat(mistake.getMessage() + mistake.getAction()).contains(
								"schema/postgresql/outbox.sql] could not be created: ", reason,
								"Create the schema that"));
			});
	}

}
