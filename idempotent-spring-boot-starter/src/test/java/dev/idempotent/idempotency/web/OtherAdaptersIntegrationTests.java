package dev.idempotent.idempotency.web;

import java.util.concurrent.CompletableFuture;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcRegistrations;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerAdapter;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A handler adapter of the application that calls handlers on other threads, such as one
 * that limits how long they take.
 */
class OtherAdaptersIntegrationTests extends AbstractTomcatAndJettyTests {

	@BeforeParameterizedClassInvocation
	static void start(String container) {
		startWithDatabase(Application.class, container);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/lease", "/transaction" })
	void runNoHandlerOnAThreadWithoutItsRequest(String path) {
		int before = rows();
		assertThat(post(path, "X-Thread", "other").statusCode()).isEqualTo(500);
		assertThat(rows()).isEqualTo(before);
		assertThat(post(path).statusCode()).isEqualTo(200);
		assertThat(isReplay(post(path))).isTrue();
		assertThat(rows()).isEqualTo(before + 1);
	}

	@ParameterizedTest
	@CsvSource({ "/lease, 200, 1", "/transaction, 500, 0" })
	void runAHandlerOnceOnAnotherThreadUnlessItNeedsItsTransaction(String path, int status, int rows) {
		int before = rows();
		for (int i = 0; i < 2; i++) {
			assertThat(post(path, "X-Thread", "bound").statusCode()).isEqualTo(status);
			assertThat(rows()).isEqualTo(before + rows);
		}
	}

	private static int rows() {
		return application.bean(JdbcClient.class).sql("select count(*) from done").query(Integer.class).single();
	}

	@RestController
	static class Handlers {

		private final JdbcClient jdbc;

		Handlers(JdbcClient jdbc) {
			this.jdbc = jdbc;
			jdbc.sql("create table done (id integer generated always as identity)").update();
		}

		@Idempotent
		@PostMapping("/lease")
		int lease() {
			return this.jdbc.sql("insert into done (id) values (default)").update();
		}

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/transaction")
		int transaction() {
			return lease();
		}

	}

	static class LimitingAdapter extends RequestMappingHandlerAdapter {

		@Override
		protected @Nullable ModelAndView invokeHandlerMethod(HttpServletRequest request, HttpServletResponse response,
				HandlerMethod handler) throws Exception {
			String thread = request.getHeader("X-Thread");
			return (thread == null) ? super.invokeHandlerMethod(request, response, handler)
					: CompletableFuture.supplyAsync(() -> invoke(request, response, handler, thread.equals("bound")))
						.get();
		}

		private @Nullable ModelAndView invoke(HttpServletRequest request, HttpServletResponse response,
				HandlerMethod handler, boolean bound) {
			try {
				if (bound) {
					RequestContextHolder.setRequestAttributes(new ServletRequestAttributes(request, response));
				}
				return super.invokeHandlerMethod(request, response, handler);
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
			finally {
				RequestContextHolder.resetRequestAttributes();
			}
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Handlers.class)
	static class Application {

		@Bean
		WebMvcRegistrations registrations() {
			return new WebMvcRegistrations() {

				@Override
				public RequestMappingHandlerAdapter getRequestMappingHandlerAdapter() {
					return new LimitingAdapter();
				}

			};
		}

	}

}
