package dev.idempotent.saga.jdbc;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import dev.idempotent.testing.RealMariaDb;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.awaitility.Awaitility.await;

/**
 * All promises for MariaDB with one driver and its settings.
 */
abstract class MariaDbSagaStoreContract extends JdbcSagaStoreContract {

	@RegisterExtension
	static final RealMariaDb mariaDb = new RealMariaDb();

	private static final Map<String, SagaRows> tables = new ConcurrentHashMap<>();

	/**
	 * The URL of the database, with a place for the port.
	 */
	abstract String url();

	@Override
	SagaRows rows() {
		return tables.computeIfAbsent(url(), (url) -> SagaRows.create(mariaDb.connect(url), "mysql",
				"saga_" + tables.size() + "_"));
	}

	@Override
	protected void awaitAWaitingInsert() {
		await().until(() -> rows().template()
			.queryForObject("select count(*) from information_schema.innodb_trx where trx_state = 'LOCK WAIT'",
					Long.class),
				Long.valueOf(1)::equals);
	}

}
