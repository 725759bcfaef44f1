package dev.idempotent.sample.voucher;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.ShopTest;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;

@ShopTest
class VoucherIntegrationTests {

	private final ShopClient shop;

	private final JdbcClient jdbc;

	private final String user = ShopClient.newUser();

	VoucherIntegrationTests(@LocalServerPort int port, @Autowired JdbcClient jdbc) {
		this.shop = new ShopClient(port);
		this.jdbc = jdbc;
	}

	@Test
	void grantsEachUserOneVoucherWithoutAKeyOfTheClient() {
		HttpResponse<String> first = ask();
		assertThat(first.statusCode()).isEqualTo(200);
		assertThat(ask().body()).isEqualTo(first.body()).contains(this.user);
		assertThat(vouchers()).isOne();
	}

	@Test
	void grantsOneVoucherToConcurrentRequests() {
		List<CompletableFuture<HttpResponse<String>>> asked = Stream
			.generate(() -> this.shop.postAsync("/api/vouchers/welcome", "{\"userId\": \"%s\"}".formatted(this.user)))
			.limit(8)
			.toList();
		assertThat(asked.stream().map((answer) -> answer.join().statusCode())).contains(200).isSubsetOf(200, 409);
		assertThat(vouchers()).isOne();
	}

	@Test
	void grantsItAgainAfterARollback() {
		assertThat(ask("X-Chaos", "fail=before-commit").statusCode()).isEqualTo(500);
		assertThat(vouchers()).isZero();
		assertThat(ask().statusCode()).isEqualTo(200);
		assertThat(vouchers()).isOne();
	}

	@Test
	void refusesABlankUser() {
		assertThat(this.shop.post("/api/vouchers/welcome", "{\"userId\": \" \"}").statusCode()).isEqualTo(400);
	}

	private HttpResponse<String> ask(String... headers) {
		return this.shop.post("/api/vouchers/welcome", "{\"userId\": \"%s\"}".formatted(this.user), headers);
	}

	private long vouchers() {
		return this.jdbc.sql("select count(*) from vouchers where user_id = ?")
			.param(this.user)
			.query(Long.class)
			.single();
	}

}
