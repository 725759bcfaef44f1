package dev.idempotent.sample.sale;

import java.net.http.HttpResponse;

import com.jayway.jsonpath.JsonPath;
import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.ShopTest;
import io.github.bucket4j.Bucket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;

import static dev.idempotent.sample.sale.SaleClient.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

@ShopTest
class SheddingIntegrationTests {

	private static final long REQUESTS_OF_MINUTES = 1_000_000;

	private final String key = ShopClient.newKey();

	private final ShopClient shop;

	private final SaleClient sale;

	private final Bucket bucket;

	SheddingIntegrationTests(@LocalServerPort int port, @Autowired Bucket bucket) {
		this.shop = new ShopClient(port);
		this.sale = new SaleClient(this.shop).open(3, 3);
		this.bucket = bucket;
	}

	@AfterEach
	void acceptRequestsAgain() {
		this.bucket.reset();
	}

	@Test
	void shedsARushAndClaimsNoKey() {
		flood();
		// The idempotency filter would refuse a request without a key.
		HttpResponse<String> shed = this.shop.post("/api/flash-sales/" + this.sale.item() + "/reservations", "");
		assertRefused(shed, 429, "too-many-requests");
		shed = this.sale.reserve("ann", this.key);
		assertRefused(shed, 429, "too-many-requests");
		assertThat(shed.headers().firstValueAsLong("Retry-After").orElseThrow()).isBetween(400L, 501L);
		assertThat(JsonPath.<Integer>read(shed.body(), "$.status")).isEqualTo(429);
		acceptRequestsAgain();
		// Another request than the one that was shed: a claimed key would refuse it.
		assertThat(this.sale.reserve("bob", this.key).statusCode()).isEqualTo(201);
	}

	@Test
	void shedsTheNaiveSaleToo() {
		flood();
		assertRefused(this.sale.buyNaively("ann", this.key), 429, "too-many-requests");
	}

	@Test
	void letsThoseWhoHaveAUnitPass() {
		String ordered = this.sale.reserved("ann");
		String cancelled = this.sale.reserved("bob");
		flood();
		assertThat(this.sale.order(ordered).statusCode()).isEqualTo(201);
		assertThat(this.sale.cancel(cancelled).statusCode()).isEqualTo(200);
		assertThat(this.sale.view().statusCode()).isEqualTo(200);
		assertThat(this.sale.isSoldOutAtTheDoor()).isFalse();
	}

	@Test
	void acceptsABurst() {
		assertThat(this.bucket.getAvailableTokens()).isLessThanOrEqualTo(500);
		this.bucket.reset();
		assertThat(this.bucket.tryConsume(500)).isTrue();
	}

	private void flood() {
		this.bucket.consumeIgnoringRateLimits(REQUESTS_OF_MINUTES);
	}

}
