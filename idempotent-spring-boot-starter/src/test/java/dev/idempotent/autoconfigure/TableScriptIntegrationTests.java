package dev.idempotent.autoconfigure;

import java.util.List;
import java.util.function.UnaryOperator;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.testing.ConcurrentRuns;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Instances that create the same tables at the same time.
 */
class TableScriptIntegrationTests {

	private static final int INSTANCES = 4;

	private static final int ROUNDS = 10;

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@ParameterizedTest
	@ValueSource(strings = { "idempotency", "outbox", "saga" })
	void createsTheTablesFromSeveralInstancesAtOnce(String promise) throws InterruptedException {
		try (HikariDataSource pool = postgres.connect(postgres.url() + "?currentSchema=at_once")) {
			JdbcTemplate jdbc = new JdbcTemplate(pool);
			for (int round = 0; round < ROUNDS; round++) {
				jdbc.execute("drop schema if exists at_once cascade");
				jdbc.execute("create schema at_once");
				List<Boolean> done = ConcurrentRuns.of(INSTANCES,
						(instance) -> new TableScript(pool, DatabaseInitializationMode.ALWAYS, promise,
								UnaryOperator.identity(), IllegalStateException::new)
							.initializeDatabase());
				assertThat(done).containsOnly(true);
				assertThat(jdbc.queryForObject("select count(*) from pg_tables where schemaname = 'at_once'",
						Integer.class))
					.isPositive();
			}
			jdbc.execute("drop schema at_once cascade");
		}
	}

}
