package dev.idempotent.idempotency.web.transaction;

import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Deadlocks in the databases of applications.
 */
class DeadlocksIntegrationTests {

	@Nested
	class OnPostgres extends AbstractDeadlockTests {

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

	@Nested
	@Tag("long")
	class OnH2 extends AbstractDeadlockTests.GoingOn {

		@Override
		List<String> database() {
			return List.of("spring.datasource.url=jdbc:h2:mem:deadlocks;LOCK_TIMEOUT=20000");
		}

		@Override
		String waiting() {
			return "select count(*) from information_schema.sessions where blocker_id is not null";
		}

	}

}
