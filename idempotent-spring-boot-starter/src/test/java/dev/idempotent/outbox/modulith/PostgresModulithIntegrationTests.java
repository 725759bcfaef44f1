package dev.idempotent.outbox.modulith;

import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/**
 * Events of Spring Modulith in an outbox on PostgreSQL.
 */
@Tag("long")
class PostgresModulithIntegrationTests extends ModulithRules {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Override
	ApplicationContextRunner withDatabase(ApplicationContextRunner application) {
		return application.withPropertyValues(postgres.properties().toArray(String[]::new))
			.withPropertyValues("idempotent.outbox.table-prefix=modulith_");
	}

}
