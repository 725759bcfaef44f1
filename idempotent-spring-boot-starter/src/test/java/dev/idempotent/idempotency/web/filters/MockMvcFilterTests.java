package dev.idempotent.idempotency.web.filters;

import dev.idempotent.autoconfigure.test.AutoConfigureIdempotency;
import dev.idempotent.idempotency.web.filters.FilteredApplication.ApiKeyFilter;
import dev.idempotent.idempotency.web.filters.FilteredApplication.Gate;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of an application with MockMvc, which ignores servlet names and adds filters in
 * the order of their beans.
 */
class MockMvcFilterTests {

	abstract static class Rules {

		@Autowired
		private MockMvcTester mvc;

		@Test
		void passEachFilterOfTheApplication() {
			assertThat(post("X-None", "x")).hasStatusOk().hasBodyTextEqualTo("run 1");
			for (String gate : Gate.names()) {
				assertThat(post(Gate.CLOSED, gate)).hasStatus(403).hasBodyTextEqualTo(gate);
			}
			assertThat(post("X-None", "x")).hasStatusOk()
				.hasBodyTextEqualTo("run 1")
				.headers()
				.hasHeaderSatisfying("Idempotent-Replayed", (values) -> assertThat(values).containsExactly("true"));
		}

		private MvcTestResult post(String header, String value) {
			return this.mvc.post()
				.uri("/orders")
				.header("Idempotency-Key", "one")
				.header(ApiKeyFilter.API_KEY, "alice")
				.header(header, value)
				.exchange();
		}

	}

	@Nested
	@SpringBootTest(properties = { "idempotent.namespace=test", "test.with-database=false" })
	@AutoConfigureMockMvc
	@AutoConfigureIdempotency
	@ContextConfiguration(classes = FilteredApplication.class)
	class OfAWholeApplication extends Rules {

	}

	@Nested
	@WebMvcTest(properties = "idempotent.namespace=test")
	@ContextConfiguration(classes = FilteredApplication.class)
	class OfItsControllersAlone extends Rules {

	}

}
