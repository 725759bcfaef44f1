package dev.idempotent.autoconfigure.idempotency;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link UnpooledConnections}.
 */
@ExtendWith(OutputCaptureExtension.class)
class UnpooledConnectionsTests {

	@Test
	void areNotThoseOfAPool() throws SQLException {
		try (HikariDataSource pool = new HikariDataSource()) {
			pool.setJdbcUrl("jdbc:h2:mem:unpooled;DB_CLOSE_DELAY=-1");
			pool.setMaximumPoolSize(1);
			DataSource unpooled = Objects.requireNonNull(UnpooledConnections.of(pool));
			try (Connection pooled = pool.getConnection(); Connection beside = unpooled.getConnection()) {
				assertThat(beside.isValid(1)).isTrue();
				assertThat(beside.getMetaData().getURL()).isEqualTo(pooled.getMetaData().getURL());
				assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isOne();
			}
		}
	}

	@Test
	void areNotDerivedFromASingleConnection(CapturedOutput output) {
		SingleConnectionDataSource single = new SingleConnectionDataSource("jdbc:h2:mem:single", true);
		assertThat(UnpooledConnections.of(single)).isNull();
		assertThat(output).contains("renewed through the application's pool", "a single connection");
	}

}
