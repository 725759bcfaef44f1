package dev.idempotent.idempotency.web.transaction;

import dev.idempotent.idempotency.web.AbstractTomcatAndJettyTests;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Runs tests with transactions of PostgreSQL on Tomcat and on Jetty.
 */
abstract class AbstractPostgresHandlerTests extends AbstractTomcatAndJettyTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	static void startWithPostgres(Class<?> source, String container, String... properties) {
		String[] all = new String[properties.length + 2];
		all[0] = WebApplication.WITH_DATABASE;
		all[1] = "test.container=" + container;
		System.arraycopy(properties, 0, all, 2, properties.length);
		application = TransactionApplication.start(source, redis, postgres, all);
	}

}
