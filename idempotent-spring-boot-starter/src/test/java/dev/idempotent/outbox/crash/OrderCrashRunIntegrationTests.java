package dev.idempotent.outbox.crash;

import java.util.List;

import javax.sql.DataSource;

import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.StallingProxy;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The crash run on PostgreSQL.
 */
@Tag("long")
@DisabledOnOs(value = OS.WINDOWS, disabledReason = "its processes know no signals")
class OrderCrashRunIntegrationTests extends AbstractOrderCrashRunTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.dedicated();

	@RegisterExtension
	static final StallingProxy network = StallingProxy.before(postgres);

	@Override
	String platform() {
		return "postgresql";
	}

	@Override
	DataSource connect() {
		return postgres.connect();
	}

	@Override
	StallingProxy databaseNetwork() {
		return network;
	}

	@Override
	List<String> databaseProperties() {
		String url = "jdbc:postgresql://%s:%d/postgres?socketTimeout=5&connectTimeout=2".formatted(network.host(),
				network.port());
		return List.of("spring.datasource.url=" + url, "spring.datasource.username=" + RealPostgres.USER,
				"spring.datasource.password=" + RealPostgres.PASSWORD);
	}

	@Override
	void killDatabase() {
		postgres.kill();
	}

	@Override
	void startDatabase() {
		postgres.start();
	}

}
