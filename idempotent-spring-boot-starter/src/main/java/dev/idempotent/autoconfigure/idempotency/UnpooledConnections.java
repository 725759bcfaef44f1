package dev.idempotent.autoconfigure.idempotency;

import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfigMXBean;
import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.jdbc.DatabaseRequirements;
import dev.idempotent.concurrent.OutageLog;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.AbstractDriverBasedDataSource;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.util.ClassUtils;

/**
 * Opens connections to a pool's database outside the pool.
 */
final class UnpooledConnections {

	private static final Logger logger = LoggerFactory.getLogger(UnpooledConnections.class);

	private static final boolean HIKARI = ClassUtils.isPresent("com.zaxxer.hikari.HikariDataSource", null);

	private UnpooledConnections() {
	}

	/**
	 * Derives such connections from the settings of a pool.
	 * @return {@code null}, with a warning, if the settings do not suffice
	 */
	static @Nullable DataSource of(DataSource dataSource) {
		try {
			return derive(dataSource);
		}
		catch (RuntimeException ex) {
			logger
				.warn("The leases of idempotency keys are renewed through the application's pool, because no connection "
						+ "outside it can be derived from {}. Configure more connections than handlers run concurrently, "
						+ "or a lease may expire while its renewal waits for a connection: {}",
						dataSource.getClass().getName(), OutageLog.reason(ex));
			logger.debug("The stack trace of the failure above", ex);
			return null;
		}
	}

	/**
	 * Derives such connections, for work that is rarely needed.
	 * @return {@code null} if the settings do not suffice
	 */
	static @Nullable DataSource find(DataSource dataSource) {
		try {
			return derive(dataSource);
		}
		catch (RuntimeException ex) {
			logger.debug("No connection outside the pool can be derived from {}", dataSource.getClass().getName(), ex);
			return null;
		}
	}

	private static @Nullable DataSource derive(DataSource dataSource) {
		if (DatabaseRequirements.findRouter(dataSource) != null) {
			return null;
		}
		DataSource derived = HIKARI ? OfHikari.of(dataSource) : null;
		return (derived != null) ? derived : ofAnother(dataSource);
	}

	private static DataSource ofAnother(DataSource dataSource) {
		AbstractDriverBasedDataSource unpooled = DataSourceUnwrapper.unwrap(dataSource,
				AbstractDriverBasedDataSource.class);
		if (unpooled instanceof SingleConnectionDataSource) {
			throw new IllegalStateException("The DataSource has a single connection");
		}
		return (unpooled != null) ? unpooled
				: DataSourceBuilder.derivedFrom(dataSource).type(SimpleDriverDataSource.class).build();
	}

	/**
	 * Reads the settings for each connection, because credentials may rotate.
	 */
	private static final class OfHikari extends AbstractDataSource {

		private final HikariDataSource pool;

		private OfHikari(HikariDataSource pool) {
			this.pool = pool;
		}

		static @Nullable DataSource of(DataSource dataSource) {
			HikariDataSource pool = DataSourceUnwrapper.unwrap(dataSource, HikariConfigMXBean.class,
					HikariDataSource.class);
			if (pool == null) {
				return null;
			}
			if (pool.getJdbcUrl() == null && pool.getDataSource() == null) {
				throw new IllegalStateException("The pool has neither a URL nor a DataSource");
			}
			return new OfHikari(pool);
		}

		@Override
		public Connection getConnection() throws SQLException {
			DataSource wrapped = this.pool.getDataSource();
			return configured((wrapped != null) ? wrapped.getConnection() : fromUrl().getConnection());
		}

		@Override
		public Connection getConnection(String username, String password) throws SQLException {
			throw new SQLException("Not supported");
		}

		private DataSource fromUrl() {
			DataSourceBuilder<SimpleDriverDataSource> builder = DataSourceBuilder.create()
				.type(SimpleDriverDataSource.class)
				.url(this.pool.getJdbcUrl())
				.username(this.pool.getUsername())
				.password(this.pool.getPassword());
			if (this.pool.getDriverClassName() != null) {
				builder.driverClassName(this.pool.getDriverClassName());
			}
			SimpleDriverDataSource source = builder.build();
			source.setConnectionProperties(this.pool.getDataSourceProperties());
			return source;
		}

		private Connection configured(Connection connection) throws SQLException {
			boolean ready = false;
			try {
				if (this.pool.getCatalog() != null) {
					connection.setCatalog(this.pool.getCatalog());
				}
				if (this.pool.getSchema() != null) {
					connection.setSchema(this.pool.getSchema());
				}
				if (this.pool.getConnectionInitSql() != null) {
					try (var statement = connection.createStatement()) {
						statement.execute(this.pool.getConnectionInitSql());
					}
				}
				ready = true;
				return connection;
			}
			finally {
				if (!ready) {
					connection.close();
				}
			}
		}

	}

}
