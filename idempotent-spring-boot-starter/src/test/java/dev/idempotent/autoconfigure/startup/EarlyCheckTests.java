package dev.idempotent.autoconfigure.startup;

import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;

import javax.sql.DataSource;

import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.test.InMemoryIdempotencyStore;
import dev.idempotent.testing.WebApplication;
import jakarta.servlet.ServletContext;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The checks before the web server is created need no bean of the application, which may
 * depend on the web server.
 */
class EarlyCheckTests {

	@ParameterizedTest
	@ValueSource(classes = { DataSourceBesideServletContext.class, StoreBesideServletContext.class })
	void doesNotCreateBeansThatNeedTheWebServer(Class<?> application) {
		List<String> properties = new ArrayList<>(
				List.of(WebApplication.WITH_OPERATIONS, "idempotent.jdbc.initialize-schema=always"));
		if (application != DataSourceBesideServletContext.class) {
			properties.add("spring.autoconfigure.exclude=" + DataSourceAutoConfiguration.class.getName() + ","
					+ DataRedisAutoConfiguration.class.getName());
		}
		else {
			properties.add("idempotent.store=jdbc");
		}
		try (WebApplication app = WebApplication.start(application, List::of, properties.toArray(String[]::new))) {
			assertThat(app.post("/orders", "{}", "Idempotency-Key", "one").statusCode()).isEqualTo(200);
			assertThat(app.post("/orders", "{}", "Idempotency-Key", "one").headers().firstValue("Idempotent-Replayed"))
				.contains("true");
		}
	}

	@Configuration
	@EnableAutoConfiguration
	@Import(Orders.class)
	static class DataSourceBesideServletContext {

		@Autowired
		ServletContext servletContext;

		@Bean
		DataSource dataSource() {
			return new DriverManagerDataSource("jdbc:h2:mem:early;DB_CLOSE_DELAY=-1");
		}

	}

	@Configuration
	@EnableAutoConfiguration
	@Import(Orders.class)
	static class StoreBesideServletContext {

		@Autowired
		ServletContext servletContext;

		@Bean
		IdempotencyStore store() {
			return new InMemoryIdempotencyStore(InstantSource.system());
		}

	}

	@RestController
	static class Orders {

		@Idempotent
		@PostMapping("/orders")
		String place() {
			return "placed";
		}

	}

}
