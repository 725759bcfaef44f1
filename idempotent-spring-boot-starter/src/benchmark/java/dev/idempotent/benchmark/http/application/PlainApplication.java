package dev.idempotent.benchmark.http.application;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/**
 * The endpoint without anything.
 */
@EnableAutoConfiguration
@Configuration(proxyBeanMethods = false)
@Import(PlainApplication.Orders.class)
public class PlainApplication {

	@RestController
	static class Orders {

		@PostMapping("/orders")
		Receipt place(@RequestBody Order order) {
			return Receipt.of(order);
		}

	}

}
