package dev.idempotent.sample.payment;

import java.util.UUID;

import org.springframework.core.env.Environment;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.stereotype.Component;
import org.springframework.web.client.HttpServerErrorException;
import org.springframework.web.client.ResourceAccessException;
import org.springframework.web.client.RestClient;

/**
 * Calls the payment gateway, up to three times if it does not respond. Each call carries
 * an idempotency key that is derived from the key of the payment, so neither these
 * attempts nor a retry of the whole payment charge twice.
 */
@Component
class PaymentGateway {

	private final RestClient client;

	private final Environment environment;

	PaymentGateway(RestClient.Builder builder, Environment environment) {
		this.client = builder.build();
		this.environment = environment;
	}

	/**
	 * Charges an order.
	 * @return whether the payment was approved
	 */
	@Retryable(includes = { HttpServerErrorException.class, ResourceAccessException.class }, maxRetries = 2,
			delay = 100)
	boolean charge(UUID orderId, String method) {
		Receipt receipt = this.client.post()
			.uri("http://127.0.0.1:{port}/gateway/charges", this.environment.getRequiredProperty("local.server.port"))
			.body(new Command(orderId, method))
			.retrieve()
			.requiredBody(Receipt.class);
		return receipt.approved();
	}

	private record Command(UUID orderId, String method) {

	}

	private record Receipt(boolean approved) {

	}

}
