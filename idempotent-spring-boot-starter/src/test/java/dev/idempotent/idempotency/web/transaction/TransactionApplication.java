package dev.idempotent.idempotency.web.transaction;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;

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
@Import({ WorkController.class, WorkController.Advice.class, RedirectingController.class, Works.class,
		TroubledWorks.class, SlowErrorPage.class })
class TransactionApplication {

	private static final String[] SETTINGS = { "idempotent.jdbc.initialize-schema=always",
			"idempotent.web.max-response-body=10KB", "idempotent.web.max-buffered-response=100KB" };

	/**
	 * Starts the application with small limits.
	 */
	static WebApplication start(Class<?> source, RedisTopology redis, RealPostgres postgres, String... properties) {
		// Of two properties with one name the last one counts.
		Map<String, String> byName = new LinkedHashMap<>();
		Stream.of(postgres.properties().stream(), Stream.of(SETTINGS), Stream.of(properties))
			.flatMap((some) -> some)
			.forEach((property) -> byName.put(property.substring(0, property.indexOf('=')), property));
		return WebApplication.start(source, redis, byName.values().toArray(String[]::new));
	}

}
