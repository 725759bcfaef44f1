package dev.idempotent.outbox.transaction;

import java.util.List;

import com.zaxxer.hikari.HikariDataSource;
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

	@Nested
	class MariaDbDriverTests extends AbstractDriverTests {

		MariaDbDriverTests() {
			super("jdbc:mariadb://127.0.0.1:%d/test");
		}

	}

	@Nested
	class ConnectorJTests extends AbstractDriverTests {

		ConnectorJTests() {
			super("jdbc:mysql://127.0.0.1:%d/test");
		}

	}

}
