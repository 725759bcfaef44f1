package dev.idempotent.idempotency.method;

import java.time.InstantSource;

import dev.idempotent.autoconfigure.idempotency.ImportMethods;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.test.InMemoryIdempotencyStore;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;

/**
 * An application starts if a test replaces its annotated bean with a mock.
 */
@SpringJUnitConfig(MockedBeanTests.Application.class)
@TestPropertySource(properties = "idempotent.namespace=shop")
class MockedBeanTests {

	@MockitoBean
	@SuppressWarnings("NullAway.Init")
	private InvalidMethods.Plain orders;

	/**
	 * A mock of the same class, in the place of one that has names of its own.
	 */
	@MockitoBean
	@SuppressWarnings({ "NullAway.Init", "UnusedVariable" })
	private InvalidMethods.Plain returns;

	@Autowired
	@SuppressWarnings("NullAway.Init")
	private Counter counter;

	@Test
	void callsTheMock() {
		given(this.orders.place("1")).willReturn("mocked");
		assertThat(this.counter.orders().place("1")).isEqualTo("mocked");
	}

	record Counter(InvalidMethods.Plain orders) {
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(AopAutoConfiguration.class)
	@ImportMethods
	static class Application {

		@Bean
		static IdempotencyStore store() {
			return new InMemoryIdempotencyStore(InstantSource.system());
		}

		@Bean
		InvalidMethods.Plain orders() {
			return new InvalidMethods.Plain();
		}

		@Bean
		InvalidMethods.Plain returns() {
			return new InvalidMethods.Plain() {

				@Override
				@Idempotent(key = "#id", name = "return")
				public String place(String id) {
					return id;
				}

			};
		}

		@Bean
		Counter counter(InvalidMethods.Plain orders) {
			return new Counter(orders);
		}

	}

}
