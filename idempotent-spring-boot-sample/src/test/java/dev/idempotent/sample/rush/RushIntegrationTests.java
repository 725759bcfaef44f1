package dev.idempotent.sample.rush;

import java.net.http.HttpResponse;
import java.time.Duration;

import com.jayway.jsonpath.JsonPath;
import dev.idempotent.sample.ShopClient;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;

import static org.assertj.core.api.Assertions.assertThat;

@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT,
		properties = { "sample.sale.hold=2s", "idempotent.redis.timeout=10s", "spring.data.redis.timeout=10s" })
class RushIntegrationTests {

	private final ShopClient shop;

	RushIntegrationTests(@LocalServerPort int port) {
		this.shop = new ShopClient(port);
	}

	@Test
	void keepsEveryPromiseToUsersWhoRetryCancelAndVanish() {
		HttpResponse<String> started = start(200, 20, 2, "");
		assertThat(started.statusCode()).isEqualTo(202);
		String path = started.headers().firstValue("Location").orElseThrow();
		assertThat(start(1, 1, 1, "").statusCode()).isEqualTo(409);
		String done = awaitDone(path);
		assertThat(JsonPath.<Integer>read(done, "$.finished")).isEqualTo(200);
		assertThat(JsonPath.<Integer>read(done, "$.answers.reserved")).isGreaterThanOrEqualTo(20);
		assertThat(JsonPath.<Integer>read(done, "$.answers.soldOut")).isPositive();
		assertThat(JsonPath.<Boolean>read(done, "$.verdict.holds")).as(done).isTrue();
		String item = JsonPath.read(done, "$.item");
		String verdict = this.shop.get("/api/flash-sales/" + item + "/verdict").body();
		assertThat(JsonPath.<Boolean>read(verdict, "$.holds")).as(verdict).isTrue();
	}

	private HttpResponse<String> start(int users, int stock, int perUser, String more) {
		return this.shop.post("/api/rushes",
				"{\"users\":%d,\"stock\":%d,\"perUser\":%d%s}".formatted(users, stock, perUser, more));
	}

	private String awaitDone(String path) {
		return Awaitility.await()
			.atMost(Duration.ofMinutes(2))
			.pollInterval(Duration.ofMillis(200))
			.until(() -> this.shop.get(path).body(), (body) -> JsonPath.read(body, "$.state").equals("DONE"));
	}

}
