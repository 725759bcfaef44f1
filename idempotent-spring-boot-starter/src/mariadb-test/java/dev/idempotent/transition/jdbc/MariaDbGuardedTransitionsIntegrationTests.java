package dev.idempotent.transition.jdbc;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.testing.RealMariaDb;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The promises on MariaDB, with each driver and with MySQL's set to count changed rows
 * only. The pools have the default isolation of the server, REPEATABLE READ.
 */
@ParameterizedClass(name = "{0}")
@CsvSource({ "jdbc:mariadb://127.0.0.1:%d/test, uuid", "jdbc:mysql://127.0.0.1:%d/test, char(36)",
		"jdbc:mysql://127.0.0.1:%d/test?useAffectedRows=true, char(36)" })
class MariaDbGuardedTransitionsIntegrationTests extends AbstractGuardedTransitionsTests {

	@RegisterExtension
	static final RealMariaDb mariaDb = new RealMariaDb();

	private static final Map<String, HikariDataSource> pools = new ConcurrentHashMap<>();

	private final String url;

	private final String idType;

	private @Nullable OrderTable orders;

	MariaDbGuardedTransitionsIntegrationTests(String url, String idType) {
		this.url = url;
		this.idType = idType;
	}

	@Override
	OrderTable orders() {
		OrderTable created = this.orders;
		if (created == null) {
			created = create("guarded_order", this.idType);
			this.orders = created;
		}
		return created;
	}

	@Override
	OrderTable create(String name, String type) {
		HikariDataSource pool = pools.computeIfAbsent(this.url, mariaDb::connect);
		return OrderTable.create(pool, name, type);
	}

	@Override
	String binaryType() {
		return "binary(3)";
	}

}
