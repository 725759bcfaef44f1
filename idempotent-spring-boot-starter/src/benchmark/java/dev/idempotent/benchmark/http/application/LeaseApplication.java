package dev.idempotent.benchmark.http.application;

import java.util.concurrent.Semaphore;

import dev.idempotent.idempotency.Idempotent;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/**
 * This project's {@code Guarantee.LEASE}.
 */
@EnableAutoConfiguration
@Configuration(proxyBeanMethods = false)
@Import(LeaseApplication.Orders.class)
public class LeaseApplication {

	@RestController
	static class Orders {

		private final Semaphore released = new Semaphore(0);

		@PostMapping("/orders")
		@Idempotent
		Receipt place(@RequestBody Order order) {
			return Receipt.of(order);
		}

		/**
		 * Runs until another request releases it.
		 */
		@PostMapping("/held")
		@Idempotent
		Receipt hold(@RequestBody Order order) throws InterruptedException {
			this.released.acquire();
			return Receipt.of(order);
		}

		@PostMapping("/release")
		void release() {
			this.released.release();
		}

	}

}
