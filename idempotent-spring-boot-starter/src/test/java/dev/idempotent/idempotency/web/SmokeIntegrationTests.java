package dev.idempotent.idempotency.web;

import java.net.http.HttpResponse;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

class SmokeIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@Test
	void replays() {
		try (WebApplication app = WebApplication.start(App.class, redis,
				"spring.autoconfigure.exclude=org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration,org.springframework.boot.security.autoconfigure.SecurityAutoConfiguration")) {
			HttpResponse<byte[]> first = app.post("/orders", "{\"a\":1}", "Idempotency-Key", "k");
			System.err.println(first + " " + first.headers() + WebApplication.text(first));
			HttpResponse<byte[]> second = app.post("/orders", "{\"a\":1.0}", "Idempotency-Key", "\"k\"");
			System.err.println(second + " " + second.headers() + WebApplication.text(second));
			HttpResponse<byte[]> third = app.post("/orders", "{\"a\":2}", "Idempotency-Key", "\"k\"");
			System.err.println(third + " " + third.headers() + WebApplication.text(third));
			assertThat(second.body()).isEqualTo(first.body());
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Orders.class)
	static class App {

	}

	@RestController
	static class Orders {

		private final AtomicInteger runs = new AtomicInteger();

		@PostMapping("/orders")
		@Idempotent
		@ResponseStatus(HttpStatus.CREATED)
		Map<String, Object> place(@RequestBody Map<String, Object> order) {
			return Map.of("order", this.runs.incrementAndGet());
		}

	}

}
