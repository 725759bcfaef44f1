package dev.idempotent.jdbc;

import java.util.Map;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link DatabaseRequirements}.
 */
public class DatabaseRequirementsTests {

	static Stream<DataSource> routers() {
		DataSource router = new ByTenant();
		LazyConnectionDataSourceProxy lazy = new LazyConnectionDataSourceProxy();
		lazy.setTargetDataSource(router);
		return Stream.of(router, new DelegatingDataSource(router), lazy,
				new TransactionAwareDataSourceProxy(new DelegatingDataSource(lazy)));
	}

	@ParameterizedTest
	@MethodSource("routers")
	void findARouterBehindItsDelegates(DataSource dataSource) {
		assertThat(DatabaseRequirements.findRouter(dataSource)).isEqualTo(ByTenant.class.getName());
	}

	@Test
	void findNoRouterOfASingleDatabase() {
		DataSource one = new DriverManagerDataSource("jdbc:h2:mem:one");
		LazyConnectionDataSourceProxy readersApart = new LazyConnectionDataSourceProxy();
		readersApart.setTargetDataSource(one);
		readersApart.setReadOnlyDataSource(one);
		assertThat(Stream.of(one, readersApart, new HikariDataSource(), new DelegatingDataSource(one)))
			.allSatisfy((dataSource) -> assertThat(DatabaseRequirements.findRouter(dataSource)).isNull());
	}

	/**
	 * A database for each tenant.
	 */
	public static final class ByTenant extends AbstractRoutingDataSource {

		public ByTenant() {
			DataSource one = new DriverManagerDataSource("jdbc:h2:mem:by-tenant;DB_CLOSE_DELAY=-1", "sa", "");
			setTargetDataSources(Map.of("one", one));
			setDefaultTargetDataSource(one);
			afterPropertiesSet();
		}

		@Override
		protected Object determineCurrentLookupKey() {
			return "one";
		}

	}

}
