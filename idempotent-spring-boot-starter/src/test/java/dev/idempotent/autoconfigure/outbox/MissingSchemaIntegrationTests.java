package dev.idempotent.autoconfigure.outbox;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application whose tables are to be created in a schema that does not exist.
 */
class MissingSchemaIntegrationTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@ParameterizedTest
	@CsvSource({ "idempotent.outbox.table-prefix=nowhere.outbox_, schema \"nowhere\" does not exist",
			"spring.datasource.hikari.schema=nowhere, no schema has been selected to create in" })
	void doesNotStart(String property, String reason) {
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
