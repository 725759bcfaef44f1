package dev.idempotent.jdbc;

import java.sql.SQLException;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

/**
 * Finds data sources that stand for several databases, such as one for each tenant. What
 * happens on threads of this library would only reach the default one.
 */
public final class RoutingDataSources {

	/**
	 * What to do where one is refused, as the end of a sentence.
	 */
	public static final String REMEDY = "Let each database have an application of its own, or mark the DataSource of one "
			+ "database as @Primary. If it only tells readers from writers, use Spring's LazyConnectionDataSourceProxy "
			+ "with a read-only DataSource in its place";

	private RoutingDataSources() {
	}

	/**
	 * Looks for a router, behind whatever stands before it.
	 * @param dataSource any
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
