package dev.idempotent.documentation.example;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.context.TypeExcludeFilter;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ComponentScan;
import org.springframework.context.annotation.FilterType;
import org.springframework.context.annotation.PropertySource;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * The application that the examples of tests belong to.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@ComponentScan(excludeFilters = @ComponentScan.Filter(type = FilterType.CUSTOM, classes = TypeExcludeFilter.class))
@PropertySource("classpath:dev/idempotent/documentation/example/shop.properties")
class Shop {

	@Bean
	ApplicationRunner tables(ObjectProvider<JdbcClient> database) {
		return (arguments) -> database.ifAvailable((jdbc) -> {
			jdbc.sql("create table if not exists orders (id uuid, item varchar(100), amount int)").update();
			jdbc.sql("create table if not exists payments (id uuid, booking varchar(100), amount int)").update();
		});
	}

}
