package dev.idempotent.idempotency.kafka;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;

import javax.sql.DataSource;

import dev.idempotent.autoconfigure.idempotency.ImportMethods;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionManagerCustomizationAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Applications without web that listen to Kafka and write a database.
 */
@Configuration(proxyBeanMethods = false)
@ImportAutoConfiguration({ AopAutoConfiguration.class, DataRedisAutoConfiguration.class, JacksonAutoConfiguration.class,
		DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
		JdbcTemplateAutoConfiguration.class, TransactionAutoConfiguration.class,
		TransactionManagerCustomizationAutoConfiguration.class, KafkaAutoConfiguration.class })
@ImportMethods
public class KafkaApplication {

	/**
	 * Starts an application.
	 * @param listeners its configuration
	 * @param properties where its servers are, as {@code name=value}
	 */
	public static ConfigurableApplicationContext start(Class<?> listeners, Collection<String> properties) {
		SpringApplication application = new SpringApplication(KafkaApplication.class, listeners);
		application.setWebApplicationType(WebApplicationType.NONE);
		application.setDefaultProperties(Map.of("idempotent.redis.timeout", "10s"));
		List<String> arguments = new ArrayList<>(
				List.of("--spring.main.banner-mode=off", "--idempotent.jdbc.initialize-schema=always"));
		properties.forEach((property) -> arguments.add("--" + property));
		return application.run(arguments.toArray(String[]::new));
	}

	@Bean
	Ledger ledger(DataSource dataSource) {
		return new Ledger(dataSource);
	}

}
