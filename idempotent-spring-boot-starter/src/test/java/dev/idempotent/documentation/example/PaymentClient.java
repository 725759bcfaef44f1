package dev.idempotent.documentation.example;

import java.time.Duration;
import java.util.UUID;

import org.springframework.core.retry.RetryPolicy;
import org.springframework.core.retry.RetryTemplate;
import org.springframework.http.MediaType;
import org.springframework.web.client.ResourceAccessException;
import org.springframework.web.client.RestClient;

class PaymentClient {

	private final RestClient http;

	private final RetryTemplate retries = new RetryTemplate(RetryPolicy.builder()
		.maxRetries(2)
		.delay(Duration.ofMillis(10))
		.includes(ResourceAccessException.class)
		.build());

	PaymentClient(RestClient http) {
		this.http = http;
	}

	Receipt pay(Payment payment) {
		String key = UUID.randomUUID().toString();
		return this.retries.invoke(() -> this.http.post()
			.uri("/payments")
			.header("Idempotency-Key", key)
			.contentType(MediaType.APPLICATION_JSON)
			.body(payment)
			.retrieve()
			.requiredBody(Receipt.class));
	}

}
