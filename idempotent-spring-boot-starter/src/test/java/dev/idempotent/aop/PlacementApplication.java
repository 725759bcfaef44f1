package dev.idempotent.aop;

import javax.sql.DataSource;

import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.method.Effects;
import dev.idempotent.idempotency.method.MethodApplication;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;

/**
 * Applications whose store and work record what they observe.
 */
final class PlacementApplication {

	private PlacementApplication() {
	}

	static ApplicationContextRunner with(Class<?>... configurations) {
		return MethodApplication.with(configurations)
			.withUserConfiguration(Probes.class)
			.withAllowCircularReferences(true);
	}

	@Configuration(proxyBeanMethods = false)
	static class Probes {

		@Bean
		Outside outside(DataSource dataSource) {
			return new Outside(dataSource);
		}

		@Bean
		@Primary
		ProbedStore probedStore(@Qualifier("store") IdempotencyStore store, Outside outside) {
			return new ProbedStore(store, outside);
		}

		@Bean
		Work work(Effects effects, Outside outside) {
			return new Work(effects, outside);
		}

	}

}
