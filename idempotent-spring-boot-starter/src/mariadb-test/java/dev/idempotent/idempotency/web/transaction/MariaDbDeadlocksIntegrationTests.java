package dev.idempotent.idempotency.web.transaction;

import java.util.List;

import dev.idempotent.testing.RealMariaDb;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Deadlocks in MariaDB.
 */
class MariaDbDeadlocksIntegrationTests {

	@Nested
	class WithItsDriver extends OnMariaDb {

		WithItsDriver() {
			super(RealMariaDb.URL);
		}

	}

	@Nested
	class WithConnectorJ extends OnMariaDb {

		WithConnectorJ() {
			super(RealMariaDb.CONNECTOR_J_URL);
		}

	}

	abstract static class OnMariaDb extends AbstractDeadlockTests.GoingOn {

		@RegisterExtension
		static final RealMariaDb mariaDb = new RealMariaDb();

		private final String url;

		OnMariaDb(String url) {
			this.url = url;
		}

		@Override
		List<String> database() {
			return mariaDb.properties(this.url);
		}

		@Override
		String waiting() {
			return RealMariaDb.WAITING;
		}

	}

}
