package dev.idempotent.saga.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterEach;

/**
 * The commits of sagas on H2.
 */
class H2SagaStatementsTests extends AbstractSagaStatementsTests {

	private final HikariDataSource pool = new HikariDataSource();

	@Override
	SagaRows rows() {
		this.pool.setJdbcUrl("jdbc:h2:mem:statements;DB_CLOSE_DELAY=-1");
		return SagaRows.create(this.pool, "h2", "logged_saga_");
	}

	@AfterEach
	void close() {
		this.pool.close();
	}

}
