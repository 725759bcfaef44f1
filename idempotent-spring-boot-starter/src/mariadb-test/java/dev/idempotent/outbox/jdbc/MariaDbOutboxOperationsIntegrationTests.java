package dev.idempotent.outbox.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.testing.RealMariaDb;
import dev.idempotent.transaction.OwnTransactions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the operations of operators on MariaDB.
 */
class MariaDbOutboxOperationsIntegrationTests extends AbstractOutboxOperationsTests {

	@RegisterExtension
	static final RealMariaDb mariaDb = new RealMariaDb();

	private static Fixture fixture;

	@BeforeAll
	static void connect() {
		fixture = Fixture.create(mariaDb.connect(RealMariaDb.URL), "mysql", "operations_");
	}

	@Override
	Fixture fixture() {
		return fixture;
	}

	@Test
	void rejectsAServerThatLeavesOutIds() {
		HikariDataSource pool = mariaDb.connect(RealMariaDb.URL);
		pool.setConnectionInitSql("set session auto_increment_increment = 2");
		try (pool) {
			assertThatExceptionOfType(IdempotentConfigurationException.class)
				.isThrownBy(() -> new OutboxTableCheck(new OwnTransactions(pool), fixture.tables().prefix())
					.requireIncreasingRows())
				.withMessageContainingAll("auto_increment_increment is 2", "in an order other than")
				.satisfies((ex) -> assertThat(ex.getAction()).contains("auto_increment_increment to 1",
						"idempotent.outbox.order=none"));
		}
	}

}
