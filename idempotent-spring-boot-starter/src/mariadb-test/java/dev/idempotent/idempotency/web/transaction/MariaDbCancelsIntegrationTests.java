package dev.idempotent.idempotency.web.transaction;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.testing.RealMariaDb;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;

/**
 * Cancels on MariaDB.
 */
class MariaDbCancelsIntegrationTests extends CancelRules {

	@RegisterExtension
	static final RealMariaDb mariaDb = new RealMariaDb();

	@BeforeParameterizedClassInvocation
	static void start(String container) {
		try (HikariDataSource pool = mariaDb.connect("jdbc:mariadb://127.0.0.1:%d/test")) {
			start(HoldApplication.class, container, WebApplication.WITH_DATABASE,
					"spring.datasource.url=" + pool.getJdbcUrl(), "spring.datasource.username=root",
					"spring.datasource.password=", "idempotent.jdbc.initialize-schema=always",
					"idempotent.web.max-response-body=10KB", "idempotent.web.max-buffered-response=100KB");
		}
	}

}
