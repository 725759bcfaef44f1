package dev.idempotent.outbox.crash;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;

import javax.sql.DataSource;

import dev.idempotent.testing.KillableMariaDb;
import dev.idempotent.testing.StallingProxy;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * The crash run on MariaDB.
 */
@DisabledOnOs(value = OS.WINDOWS, disabledReason = "its processes know no signals")
class MariaDbOrderCrashRunIntegrationTests extends AbstractOrderCrashRunTests {

	@RegisterExtension
	static final KillableMariaDb mariaDb = new KillableMariaDb();

	@RegisterExtension
	static final StallingProxy network = StallingProxy
		.before(() -> new InetSocketAddress(InetAddress.getLoopbackAddress(), mariaDb.port()));

	@Override
	String platform() {
		return "mysql";
	}

	@Override
	DataSource connect() {
		return new DriverManagerDataSource(url(mariaDb.port()), "root", "");
	}

	@Override
	StallingProxy databaseNetwork() {
		return network;
	}

	@Override
	List<String> databaseProperties() {
		return List.of("spring.datasource.url=" + url(network.port()), "spring.datasource.username=root",
				"spring.datasource.password=");
	}

	private static String url(int port) {
		return "jdbc:mariadb://127.0.0.1:%d/test?socketTimeout=5000&connectTimeout=2000".formatted(port);
	}

	@Override
	void killDatabase() {
		mariaDb.kill();
	}

	@Override
	void startDatabase() {
		mariaDb.start();
	}

}
