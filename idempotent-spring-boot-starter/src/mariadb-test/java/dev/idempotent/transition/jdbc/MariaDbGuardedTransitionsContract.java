package dev.idempotent.transition.jdbc;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.testing.RealMariaDb;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The contract on MariaDB with one driver, whose pool has the server's default isolation,
 * REPEATABLE READ.
 */
abstract class MariaDbGuardedTransitionsContract extends GuardedTransitionsContract {

	@RegisterExtension
	static final RealMariaDb mariaDb = new RealMariaDb();

	private static final Map<String, HikariDataSource> pools = new ConcurrentHashMap<>();

	private final String url;

	private final String idType;

	private @Nullable OrderTable orders;

	MariaDbGuardedTransitionsContract(String url, String idType) {
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
