package dev.idempotent.idempotency.web.transaction;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;

import dev.idempotent.idempotency.web.transaction.Works.Troubled;
import dev.idempotent.testing.Gate;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RedisTopology;
import dev.idempotent.testing.WebApplication;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.error.ErrorAttributeOptions;
import org.springframework.boot.webmvc.error.DefaultErrorAttributes;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.stereotype.Component;
import org.springframework.web.context.request.WebRequest;

/**
 * Handlers under {@code Guarantee.TRANSACTION} on plain JDBC.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import({ WorkController.class, WorkController.Advice.class, RedirectingController.class, Works.class, Troubled.class,
		TransactionApplication.SlowErrorPage.class })
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

	/**
	 * Error pages that a test can delay.
	 */
	@Component
	static class SlowErrorPage extends DefaultErrorAttributes {

		volatile @Nullable Gate gate;

		@Override
		public Map<String, @Nullable Object> getErrorAttributes(WebRequest webRequest, ErrorAttributeOptions options) {
			Gate closed = this.gate;
			if (closed != null) {
				try {
					closed.pass();
				}
				catch (InterruptedException ex) {
					throw new IllegalStateException(ex);
				}
			}
			return super.getErrorAttributes(webRequest, options);
		}

	}

}
