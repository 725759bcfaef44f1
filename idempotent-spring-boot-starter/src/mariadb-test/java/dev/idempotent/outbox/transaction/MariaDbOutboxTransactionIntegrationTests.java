package dev.idempotent.outbox.transaction;

import java.util.ArrayList;
import java.util.List;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.testing.RealMariaDb;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * The promises with a {@code JdbcTransactionManager} on MariaDB.
 */
class MariaDbOutboxTransactionIntegrationTests extends AbstractSavepointTests {

	@RegisterExtension
	static final RealMariaDb mariaDb = new RealMariaDb();

	@Override
	ConfigurableApplicationContext start(List<String> properties) {
		List<String> all = new ArrayList<>(properties);
		try (HikariDataSource pool = mariaDb.connect(RealMariaDb.URL)) {
			all.add("spring.datasource.url=" + pool.getJdbcUrl());
		}
		all.add("spring.datasource.username=root");
		all.add("spring.datasource.password=");
		return OutboxApplication.start(all);
	}

}
