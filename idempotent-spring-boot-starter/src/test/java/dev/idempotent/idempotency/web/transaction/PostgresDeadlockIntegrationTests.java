package dev.idempotent.idempotency.web.transaction;

import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresDeadlockIntegrationTests extends DeadlockRules {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Override
	List<String> database() {
		return postgres.properties();
	}

	@Override
	String waiting() {
		return "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like 'update account%'";
	}

	@Override
	void spare(Statement session) throws SQLException {
		session.execute("set local deadlock_timeout = '1min'");
	}

}
