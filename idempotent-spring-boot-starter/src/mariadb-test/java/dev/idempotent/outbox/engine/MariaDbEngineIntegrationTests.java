package dev.idempotent.outbox.engine;

import java.sql.Connection;
import java.sql.SQLException;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.outbox.engine.EventTable.Dialect;
import dev.idempotent.testing.RealMariaDb;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.RegisterExtension;

class MariaDbEngineIntegrationTests extends EngineRules {

	@RegisterExtension
	static final RealMariaDb server = new RealMariaDb();

	private static @Nullable HikariDataSource pool;

	@Override
	Dialect dialect() {
		return Dialect.MARIADB;
	}

	@Override
	Connection connect() throws SQLException {
		if (pool == null) {
			pool = server.connect("jdbc:mariadb://127.0.0.1:%d/test");
		}
		return pool.getConnection();
	}

}
