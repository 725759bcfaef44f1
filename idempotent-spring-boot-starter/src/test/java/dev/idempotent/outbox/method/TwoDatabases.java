package dev.idempotent.outbox.method;

import javax.sql.DataSource;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * Two databases, of which none is primary.
 */
@Configuration(proxyBeanMethods = false)
class TwoDatabases {

	@Bean
	DataSource one() {
		return new DriverManagerDataSource("jdbc:h2:mem:one");
	}

	@Bean
	DataSource other() {
		return new DriverManagerDataSource("jdbc:h2:mem:other");
	}

}
