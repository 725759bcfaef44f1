package dev.idempotent.outbox.engine;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;

import dev.idempotent.outbox.engine.EventTable.Dialect;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresEngineIntegrationTests extends EngineRules {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.dedicated();

	@Override
	Dialect dialect() {
		return Dialect.POSTGRESQL;
	}

	@Override
	Connection connect() throws SQLException {
		return DriverManager.getConnection(postgres.url(), RealPostgres.USER, RealPostgres.PASSWORD);
	}

}
