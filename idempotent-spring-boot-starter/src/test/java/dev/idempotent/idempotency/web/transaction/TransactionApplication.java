package dev.idempotent.idempotency.web.transaction;

import java.util.ArrayList;
import java.util.List;

import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RedisTopology;
import dev.idempotent.testing.WebApplication;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * Handlers under {@code Guarantee.TRANSACTION} on plain JDBC.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import({ WorkController.class, WorkController.Advice.class, Works.class, TroubledWorks.class })
class TransactionApplication {

	/**
	 * Starts it with small limits.
	 */
	static WebApplication start(Class<?> source, RedisTopology redis, RealPostgres postgres, String... properties) {
		List<String> all = new ArrayList<>(postgres.properties());
		all.addAll(List.of("idempotent.jdbc.initialize-schema=always", "idempotent.web.max-response-body=10KB",
				"idempotent.web.max-held-response=100KB"));
		all.addAll(List.of(properties));
		return WebApplication.start(source, redis, all.toArray(String[]::new));
	}

}
