package dev.idempotent.sample.points;

import java.net.URI;
import java.net.http.HttpResponse;
import java.util.UUID;

import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.ShopTest;
import dev.idempotent.sample.servers.PointsServer;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;

import static org.assertj.core.api.Assertions.assertThat;

@ShopTest
class PointsIntegrationTests {

	private final ShopClient points;

	private final String account = ShopClient.newUser();

	private final String key = ShopClient.newKey();

	PointsIntegrationTests(@Autowired PointsServer server) {
		this.points = new ShopClient(URI.create(server.url()).getPort());
	}

	@Test
	void areCreditedOncePerKey() {
		UUID order = UUID.randomUUID();
		assertThat(credit(order, 7).statusCode()).isEqualTo(204);
		assertThat(credit(order, 7).statusCode()).isEqualTo(204);
		assertThat(balance()).isEqualTo("{\"points\":7,\"credits\":1,\"cancelled\":0}");
	}

	@Test
	void areRefusedAboveAHundredForGood() {
		UUID order = UUID.randomUUID();
		assertThat(credit(order, 101).statusCode()).isEqualTo(400);
		HttpResponse<String> repeated = credit(order, 101);
		assertThat(repeated.statusCode()).isEqualTo(400);
		assertThat(repeated.headers().firstValue("Idempotent-Replayed")).hasValue("true");
		assertThat(balance()).isEqualTo("{\"points\":0,\"credits\":0,\"cancelled\":0}");
	}

	private HttpResponse<String> credit(UUID order, int amount) {
		return this.points.post("/points/credits",
				"{\"account\": \"%s\", \"orderId\": \"%s\", \"points\": %d}".formatted(this.account, order, amount),
				"Idempotency-Key", this.key);
	}

	private String balance() {
		return this.points.get("/points/accounts/" + this.account).body();
	}

}
