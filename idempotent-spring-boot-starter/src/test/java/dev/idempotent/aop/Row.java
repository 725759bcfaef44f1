package dev.idempotent.aop;

import java.util.List;
import java.util.function.Function;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

/**
 * A kind of bean in a kind of application.
 *
 * @param name what a reader calls it
 * @param configurations the bean, and what else the application has
 * @param properties those of the application
 * @param shop finds the bean
 * @param transactional whether its methods are {@code @Transactional} themselves
 */
record Row(String name, List<Class<?>> configurations, List<String> properties, Function<ApplicationContext, Shop> shop,
		boolean transactional) {

	static Row of(String name, Class<?>... configurations) {
		return new Row(name, List.of(configurations), List.of(), (context) -> context.getBean(Shop.class), true);
	}

	Row with(String... set) {
		return new Row(this.name, this.configurations, List.of(set), this.shop, this.transactional);
	}

	Row reachedBy(Function<ApplicationContext, Shop> found) {
		return new Row(this.name, this.configurations, this.properties, found, this.transactional);
	}

	Row withoutTransactions() {
		return new Row(this.name, this.configurations, this.properties, this.shop, false);
	}

	ApplicationContextRunner application() {
		return PlacementApplication.with(this.configurations.toArray(Class<?>[]::new))
			.withPropertyValues(this.properties.toArray(String[]::new));
	}

	@Override
	public String toString() {
		return this.name;
	}

}
