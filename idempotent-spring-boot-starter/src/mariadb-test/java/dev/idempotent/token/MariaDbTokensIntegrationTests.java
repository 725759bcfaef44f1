package dev.idempotent.token;

import java.util.List;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.testing.RealMariaDb;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Tokens under {@code Guarantee.TRANSACTION} on MariaDB, without Redis.
 */
class MariaDbTokensIntegrationTests extends AbstractOneTimeTokensTests {

	@RegisterExtension
	static final RealMariaDb mariaDb = new RealMariaDb();

	@Override
	List<String> properties() {
		try (HikariDataSource pool = mariaDb.connect(RealMariaDb.URL)) {
			return List.of(WebApplication.WITH_DATABASE, "idempotent.guarantee=transaction", "idempotent.store=jdbc",
					"idempotent.jdbc.initialize-schema=always", "spring.datasource.url=" + pool.getJdbcUrl(),
					"spring.datasource.username=root", "spring.datasource.password=");
		}
	}

}
