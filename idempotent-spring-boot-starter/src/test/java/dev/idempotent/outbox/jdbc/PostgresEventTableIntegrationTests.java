package dev.idempotent.outbox.jdbc;

import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Tests for {@link EventTable} on PostgreSQL.
 */
class PostgresEventTableIntegrationTests extends EventTableContract {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private static Fixture fixture;

	@BeforeAll
	static void connect() {
		fixture = Fixture.create(postgres.connect(), "postgresql", "table_outbox_");
	}

	@Override
	Fixture fixture() {
		return fixture;
	}

}
