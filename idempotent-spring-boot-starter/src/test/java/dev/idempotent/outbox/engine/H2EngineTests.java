package dev.idempotent.outbox.engine;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;

import dev.idempotent.outbox.engine.EventTable.Dialect;

class H2EngineTests extends EngineRules {

	@Override
	Dialect dialect() {
		return Dialect.H2;
	}

	@Override
	Connection connect() throws SQLException {
		return DriverManager.getConnection("jdbc:h2:mem:engine;DB_CLOSE_DELAY=-1");
	}

}
