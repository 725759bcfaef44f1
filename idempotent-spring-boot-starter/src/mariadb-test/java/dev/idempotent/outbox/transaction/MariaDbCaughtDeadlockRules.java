package dev.idempotent.outbox.transaction;

import java.util.List;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.testing.RealMariaDb;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The rules on MariaDB, through one driver.
 */
abstract class MariaDbCaughtDeadlockRules extends CaughtDeadlockRules {

	@RegisterExtension
	static final RealMariaDb mariaDb = new RealMariaDb();

	private final String url;

	MariaDbCaughtDeadlockRules(String url) {
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
