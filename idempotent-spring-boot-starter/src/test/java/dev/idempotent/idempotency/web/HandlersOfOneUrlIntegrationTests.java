package dev.idempotent.idempotency.web;

import java.net.http.HttpResponse;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.WebApplication;
import jakarta.servlet.http.HttpServletRequest;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.util.UrlPathHelper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Handlers of one URL that a mapping of the application tells apart by what is not
 * compared.
 */
class HandlersOfOneUrlIntegrationTests extends OnTomcatAndJetty {

	@BeforeParameterizedClassInvocation
	static void start(String container) {
		startWithDatabase(Application.class, container);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/by-path/lease", "/by-path/transaction" })
	void neverAnswerForEachOther(String path) {
		HttpResponse<byte[]> one = post(path, "X-Tenant", "a");
		assertThat(one.statusCode()).isEqualTo(200);
		assertThat(WebApplication.text(one)).endsWith("a");
		assertThat(post(path, "X-Tenant", "b").statusCode()).isEqualTo(422);
		HttpResponse<byte[]> retry = post(path, "X-Tenant", "a");
		assertThat(isReplay(retry)).isTrue();
		assertThat(retry.body()).isEqualTo(one.body());
	}

	@RestController
	static class ByPath {

		@Idempotent
		@PostMapping("/a/by-path/lease")
		String leaseOfA() {
			return "a";
		}

		@Idempotent
		@PostMapping("/b/by-path/lease")
		String leaseOfB() {
			return "b";
		}

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/a/by-path/transaction")
		String transactionOfA() {
			return "a";
		}

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/b/by-path/transaction")
		String transactionOfB() {
			return "b";
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(ByPath.class)
	static class Application {

		/**
		 * Looks up the path of the tenant.
		 */
		@Bean(defaultCandidate = false)
		RequestMappingHandlerMapping byPath() {
			RequestMappingHandlerMapping mapping = new RequestMappingHandlerMapping() {

				@Override
				protected String initLookupPath(HttpServletRequest request) {
					String path = super.initLookupPath(request);
					if (path.startsWith("/by-path/")) {
						path = "/" + request.getHeader("X-Tenant") + path;
						request.setAttribute(UrlPathHelper.PATH_ATTRIBUTE, path);
					}
					return path;
				}

			};
			mapping.setPatternParser(null);
			mapping.setOrder(-2);
			return mapping;
		}

	}

}
