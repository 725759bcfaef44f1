package dev.idempotent.idempotency.web.transaction;

import java.util.List;

import dev.idempotent.testing.RealMariaDb;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;

/**
 * Cancels on MariaDB.
 */
class MariaDbCancelsIntegrationTests {

	@RegisterExtension
	static final RealMariaDb mariaDb = new RealMariaDb();

	@Nested
	class OfOneInstance extends AbstractCancelTests {

		@BeforeParameterizedClassInvocation
		static void start(String container) {
			List<String> database = mariaDb.properties(RealMariaDb.URL);
			start(HoldApplication.class, container, WebApplication.WITH_DATABASE, database.get(0), database.get(1),
					database.get(2), "idempotent.jdbc.initialize-schema=always",
					"idempotent.web.max-response-body=10KB", "idempotent.web.max-buffered-response=100KB");
		}

	}

	@Nested
	class Concurrent extends AbstractConcurrentCancelTests {

		@Override
		List<String> database() {
			return mariaDb.properties(RealMariaDb.URL);
		}

		@Override
		String waiting() {
			return RealMariaDb.WAITING;
		}

	}

	@Nested
	class ConcurrentWithConnectorJ extends Concurrent {

		@Override
		List<String> database() {
			return mariaDb.properties(RealMariaDb.CONNECTOR_J_URL);
		}

	}

}
