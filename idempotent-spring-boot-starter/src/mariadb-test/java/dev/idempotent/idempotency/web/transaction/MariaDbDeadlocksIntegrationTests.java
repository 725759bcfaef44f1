package dev.idempotent.idempotency.web.transaction;

import java.util.List;

import com.zaxxer.hikari.HikariDataSource;
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
			try (HikariDataSource pool = mariaDb.connect(this.url)) {
				return List.of("spring.datasource.url=" + pool.getJdbcUrl(), "spring.datasource.username=root",
						"spring.datasource.password=");
			}
		}

		@Override
		String waiting() {
			return "select count(*) from information_schema.innodb_trx where trx_state = 'LOCK WAIT'";
		}

	}

}
