package dev.idempotent.documentation.example;

import dev.idempotent.idempotency.client.RestClientKeys;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaSteps;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.web.client.RestClient;

/**
 * Books seats at a participant, and charges for them at a payment provider.
 */
class Bookings {

	private final SagaSteps saga;

	private final RestClient seats;

	private final RestClient payments;

	Bookings(SagaSteps saga, RestClient.Builder client, RestClientKeys keys, @Value("${shop.seats}") String seats,
			@Value("${shop.payments}") String payments) {
		this.saga = saga;
		this.seats = client.clone().baseUrl(seats).apply(keys.forService("seats")).build();
		this.payments = client.clone().baseUrl(payments).apply(keys.forService("payments")).build();
	}

	@Saga(name = "booking", key = "#booking")
	public void book(String booking) {
		this.saga.step("hold")
			.cancel(() -> post(this.seats, "/releases", booking))
			.run(() -> post(this.seats, "/holds", booking));
		this.saga.step("charge").provenBy("/id", "/error").run(() -> post(this.payments, "/charges", booking));
	}

	private static void post(RestClient service, String path, String booking) {
		service.post().uri(path).body(booking).retrieve().toBodilessEntity();
	}

}
