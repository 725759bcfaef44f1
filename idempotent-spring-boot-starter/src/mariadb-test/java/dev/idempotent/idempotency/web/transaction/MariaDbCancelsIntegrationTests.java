package dev.idempotent.idempotency.web.transaction;

import java.util.List;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.testing.RealMariaDb;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;

/**
 * Cancels on MariaDB.
 */
class MariaDbCancelsIntegrationTests {

	private static final String WAITING = "select count(*) from information_schema.innodb_trx where trx_state = 'LOCK WAIT'";

	@RegisterExtension
	static final RealMariaDb mariaDb = new RealMariaDb();

	private static List<String> database(String url) {
		try (HikariDataSource pool = mariaDb.connect(url)) {
			return List.of("spring.datasource.url=" + pool.getJdbcUrl(), "spring.datasource.username=root",
					"spring.datasource.password=");
		}
	}

	@Nested
	class OfOneInstance extends AbstractCancelTests {

		@BeforeParameterizedClassInvocation
		static void start(String container) {
			List<String> database = database(RealMariaDb.URL);
			start(HoldApplication.class, container, WebApplication.WITH_DATABASE, database.get(0), database.get(1),
					database.get(2), "idempotent.jdbc.initialize-schema=always",
					"idempotent.web.max-response-body=10KB", "idempotent.web.max-buffered-response=100KB");
		}

	}

	@Nested
	class Concurrent extends AbstractConcurrentCancelTests {

		@Override
		List<String> database() {
			return MariaDbCancelsIntegrationTests.database(RealMariaDb.URL);
		}

		@Override
		String waiting() {
			return WAITING;
		}

	}

	@Nested
	class ConcurrentWithConnectorJ extends AbstractConcurrentCancelTests {

		@Override
		List<String> database() {
			return MariaDbCancelsIntegrationTests.database(RealMariaDb.CONNECTOR_J_URL);
		}

		@Override
		String waiting() {
			return WAITING;
		}

	}

}
