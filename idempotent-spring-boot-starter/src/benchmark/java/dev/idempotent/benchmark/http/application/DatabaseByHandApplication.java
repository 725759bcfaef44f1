package dev.idempotent.benchmark.http.application;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

/**
 * What an application writes by hand if the database alone knows the keys.
 */
@EnableAutoConfiguration
@Configuration(proxyBeanMethods = false)
@Import({ PlacedOrders.class, ResponsesByHand.class, DatabaseByHandApplication.Orders.class })
public class DatabaseByHandApplication {

	@RestController
	static class Orders {

		private final ResponsesByHand responses;

		Orders(ResponsesByHand responses) {
			this.responses = responses;
		}

		@PostMapping(path = "/orders", produces = MediaType.APPLICATION_JSON_VALUE)
		String place(@RequestHeader("Idempotency-Key") String key, @RequestBody Order order) {
			return this.responses.commit(key, order);
		}

	}

}
