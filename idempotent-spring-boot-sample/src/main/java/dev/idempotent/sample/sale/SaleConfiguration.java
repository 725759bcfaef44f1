package dev.idempotent.sample.sale;

import java.time.Duration;

import io.github.bucket4j.Bucket;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Configures how many requests for a unit this instance accepts.
 */
@Configuration(proxyBeanMethods = false)
class SaleConfiguration {

	@Bean
	Bucket saleBucket(SaleProperties properties) {
		return Bucket.builder()
			.addLimit((limit) -> limit.capacity(properties.burst())
				.refillGreedy(properties.requestsPerSecond(), Duration.ofSeconds(1)))
			.build();
	}

}
