package dev.idempotent.jdbc;

import java.sql.SQLException;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

/**
 * Detects data sources that route to several databases, such as one for each tenant. The
 * threads of this library would only reach the default database.
 */
public final class RoutingDataSources {

	/**
	 * The solution where a router is rejected, as the end of a message.
	 */
	public static final String REMEDY = "Run one application for each database, or mark the DataSource of one "
			+ "database as @Primary. If it only separates readers from writers, use Spring's "
			+ "LazyConnectionDataSourceProxy with a read-only DataSource instead";

	private RoutingDataSources() {
	}

	/**
	 * Finds a router, behind any delegates.
	 * @param dataSource a data source
	 * @return the name of the router's class, or {@code null} if there is none
	 */
	public static @Nullable String find(DataSource dataSource) {
		if (dataSource instanceof AbstractRoutingDataSource) {
			return dataSource.getClass().getName();
		}
		if (dataSource instanceof DelegatingDataSource delegating && delegating.getTargetDataSource() != null) {
			return find(delegating.getTargetDataSource());
		}
		try {
			return dataSource.isWrapperFor(AbstractRoutingDataSource.class)
					? dataSource.unwrap(AbstractRoutingDataSource.class).getClass().getName() : null;
		}
		catch (SQLException | RuntimeException ex) {
			return null;
		}
	}

}
