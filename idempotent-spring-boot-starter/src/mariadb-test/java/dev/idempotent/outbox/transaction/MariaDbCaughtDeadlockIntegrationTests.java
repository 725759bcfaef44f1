package dev.idempotent.outbox.transaction;

import java.util.List;

import dev.idempotent.testing.RealMariaDb;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The promises on MariaDB, with each driver.
 */
class MariaDbCaughtDeadlockIntegrationTests {

	@RegisterExtension
	static final RealMariaDb mariaDb = new RealMariaDb();

	abstract static class AbstractDriverTests extends AbstractCaughtDeadlockTests {

		private final String url;

		AbstractDriverTests(String url) {
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

	@Nested
	class MariaDbDriverTests extends AbstractDriverTests {

		MariaDbDriverTests() {
			super(RealMariaDb.URL);
		}

	}

	@Nested
	class ConnectorJTests extends AbstractDriverTests {

		ConnectorJTests() {
			super(RealMariaDb.CONNECTOR_J_URL);
		}

	}

}
