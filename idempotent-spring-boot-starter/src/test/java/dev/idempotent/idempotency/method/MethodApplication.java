package dev.idempotent.idempotency.method;

import javax.sql.DataSource;

import dev.idempotent.autoconfigure.idempotency.IdempotencyAutoConfiguration;
import dev.idempotent.autoconfigure.idempotency.ImportMethods;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcClientAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionManagerCustomizationAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * Applications without web, with a store and a database in memory.
 */
public final class MethodApplication {

	private MethodApplication() {
	}

	/**
	 * Such an application, with a table of its own for the effects of its methods.
	 */
	public static ApplicationContextRunner with(Class<?>... configurations) {
		return new ApplicationContextRunner()
			.withPropertyValues("idempotent.namespace=shop", "spring.datasource.generate-unique-name=true")
			.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, DataSourceAutoConfiguration.class,
					DataSourceTransactionManagerAutoConfiguration.class, JdbcTemplateAutoConfiguration.class,
					JdbcClientAutoConfiguration.class, TransactionAutoConfiguration.class,
					TransactionManagerCustomizationAutoConfiguration.class, IdempotencyAutoConfiguration.class,
					ImportMethods.CLASS))
			.withUserConfiguration(Stores.class)
			.withUserConfiguration(configurations);
	}

	@Configuration(proxyBeanMethods = false)
	static class Stores {

		@Bean
		static ForgetfulStore store() {
			return new ForgetfulStore();
		}

		@Bean
		Effects effects(DataSource dataSource) {
			JdbcClient database = JdbcClient.create(dataSource);
			database.sql("create table effect (what varchar(100))").update();
			return new Effects(database);
		}

	}

}
