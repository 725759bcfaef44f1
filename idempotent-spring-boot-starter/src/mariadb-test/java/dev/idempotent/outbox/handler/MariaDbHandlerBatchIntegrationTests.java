package dev.idempotent.outbox.handler;

import java.util.List;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.testing.RealMariaDb;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The promises on MariaDB.
 */
class MariaDbHandlerBatchIntegrationTests extends AbstractHandlerBatchTests {

	@RegisterExtension
	static final RealMariaDb mariaDb = new RealMariaDb();

	@Override
	List<String> database() {
		try (HikariDataSource pool = mariaDb.connect(RealMariaDb.URL)) {
			return List.of("spring.datasource.url=" + pool.getJdbcUrl(), "spring.datasource.username=root",
					"spring.datasource.password=");
		}
	}

}
