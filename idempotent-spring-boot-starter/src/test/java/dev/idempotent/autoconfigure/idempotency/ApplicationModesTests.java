package dev.idempotent.autoconfigure.idempotency;

import java.util.stream.Stream;

import javax.sql.DataSource;

import dev.idempotent.idempotency.Idempotent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.ResourceAccessException;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.support.RestClientAdapter;
import org.springframework.web.service.annotation.PostExchange;
import org.springframework.web.service.invoker.HttpServiceProxyFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The same application, with lazy beans or as a job without a web server.
 */
class ApplicationModesTests {

	@ParameterizedTest
	@ValueSource(strings = { "idempotency_record", "outbox_event" })
	void createTheTablesOfALazyApplication(String table) {
		try (ConfigurableApplicationContext context = start("spring.main.lazy-initialization=true",
				"idempotent.outbox.relay.enabled=false")) {
			// A JdbcTemplate that is a bean would create them.
			JdbcTemplate database = new JdbcTemplate(context.getBean(DataSource.class));
			assertThat(database.queryForObject("select count(*) from " + table, Long.class)).isZero();
		}
	}

	@Test
	void leaveHandlersAloneInAJob() {
		try (ConfigurableApplicationContext context = start("spring.main.web-application-type=none")) {
			Jobs jobs = context.getBean(Jobs.class);
			assertThat(jobs.run("one")).isEqualTo(jobs.run("one"));
			assertThat(context.getBean(Orders.class).place()).isEqualTo("placed");
		}
	}

	@Test
	void checkTheOtherMethodsOfAJob() {
		assertThatException().isThrownBy(() -> start("spring.main.web-application-type=none", "keyless=true"))
			.withMessageContaining("has no key, and is not a web handler of Spring MVC");
	}

	/**
	 * A consumer has the client of an interface that the web handler implements.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "none", "servlet" })
	void leaveClientsOfHandlersAlone(String type) {
		try (ConfigurableApplicationContext context = start("spring.main.web-application-type=" + type,
				"consumer=true")) {
			assertThatExceptionOfType(ResourceAccessException.class)
				.isThrownBy(() -> context.getBean(PaymentApi.class).pay("one"));
		}
	}

	private static ConfigurableApplicationContext start(String... properties) {
		String[] arguments = Stream.concat(
				Stream.of("idempotent.namespace=shop", "server.port=0", "spring.main.banner-mode=off",
						"spring.datasource.generate-unique-name=true", "idempotent.store=jdbc",
						"idempotent.jdbc.initialize-schema=always", "idempotent.outbox.initialize-schema=always"),
				Stream.of(properties))
			.map("--"::concat)
			.toArray(String[]::new);
		return SpringApplication.run(Application.class, arguments);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Orders.class, Jobs.class, Keyless.class })
	static class Application {

		@Bean
		@ConditionalOnBooleanProperty("consumer")
		PaymentApi payments() {
			return HttpServiceProxyFactory.builderFor(RestClientAdapter.create(RestClient.create("http://127.0.0.1:1")))
				.build()
				.createClient(PaymentApi.class);
		}

	}

	interface PaymentApi {

		@Idempotent
		@PostExchange("/payments")
		String pay(@RequestBody String body);

	}

	@RestController
	static class Orders {

		@Idempotent
		@PostMapping("/orders")
		public String place() {
			return "placed";
		}

	}

	static class Jobs {

		private int runs;

		@Idempotent(key = "#id", name = "jobs.run")
		public String run(String id) {
			return "run " + ++this.runs;
		}

	}

	@ConditionalOnBooleanProperty("keyless")
	static class Keyless {

		@Idempotent
		public void run() {
		}

	}

}
