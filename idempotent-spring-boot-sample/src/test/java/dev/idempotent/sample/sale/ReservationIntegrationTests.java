package dev.idempotent.sample.sale;

import java.net.http.HttpResponse;
import java.util.Set;

import com.jayway.jsonpath.JsonPath;
import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.ShopTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static dev.idempotent.sample.sale.SaleClient.assertRefused;
import static dev.idempotent.sample.sale.SaleClient.idOf;
import static dev.idempotent.sample.sale.SaleClient.isReplayed;
import static org.assertj.core.api.Assertions.assertThat;

@ShopTest
class ReservationIntegrationTests {

	private final String key = ShopClient.newKey();

	private final ShopClient shop;

	private final SaleClient sale;

	private final JdbcClient jdbc;

	private final StringRedisTemplate redis;

	private final TransactionTemplate transaction;

	ReservationIntegrationTests(@LocalServerPort int port, @Autowired JdbcClient jdbc,
			@Autowired StringRedisTemplate redis, @Autowired PlatformTransactionManager transactions) {
		this.shop = new ShopClient(port);
		this.sale = new SaleClient(this.shop);
		this.jdbc = jdbc;
		this.redis = redis;
		this.transaction = new TransactionTemplate(transactions);
	}

	@Test
	void reservesAUnit() {
		this.sale.open(1, 1);
		HttpResponse<String> reserved = this.sale.reserve("ann", this.key);
		assertThat(reserved.statusCode()).isEqualTo(201);
		String id = idOf(reserved);
		assertThat(reserved.headers().firstValue("Location")).hasValue("/api/reservations/" + id);
		String end = JsonPath.read(reserved.body(), "$.expiresAt");
		assertThat(reserved.body()).isEqualTo("""
				{"reservationId":"%s","item":"%s","userId":"ann","expiresAt":"%s"}""".formatted(id, this.sale.item(),
				end));
		assertThat(this.sale.find(id).body()).isEqualTo("""
				{"reservationId":"%s","item":"%s","userId":"ann","state":"HELD","expiresAt":"%s","orderId":null}"""
			.formatted(id, this.sale.item(), end));
	}

	@Test
	void reservesOneUnitForARepeatedRequest() {
		this.sale.open(2, 2);
		HttpResponse<String> first = this.sale.reserve("ann", this.key);
		HttpResponse<String> again = this.sale.reserve("ann", this.key);
		assertThat(isReplayed(again)).isTrue();
		assertThat(again.body()).isEqualTo(first.body());
		assertThat(held()).isOne();
	}

	@Test
	void respondsWithTheSameBytesWhenRedisHasLostEverything() {
		this.sale.open(2, 2);
		HttpResponse<String> first = this.sale.reserve("ann", this.key);
		wipe(idOf(first));
		HttpResponse<String> again = this.sale.reserve("ann", this.key);
		assertThat(again.statusCode()).isEqualTo(201);
		assertThat(isReplayed(again)).isFalse();
		assertThat(again.body()).isEqualTo(first.body());
		assertThat(again.headers().firstValue("Location")).isEqualTo(first.headers().firstValue("Location"));
		assertThat(held()).isOne();
	}

	@Test
	void sellsAUnitThatComesBackToARefusedKey() {
		this.sale.open(1, 1);
		String id = this.sale.reserved("ann");
		assertRefused(this.sale.reserve("bob", this.key), 409, "sold-out");
		assertRefused(this.sale.reserve("bob", this.key), 409, "sold-out");
		this.sale.cancel(id);
		assertThat(this.sale.reserve("bob", this.key).statusCode()).isEqualTo(201);
	}

	@Test
	void limitsTheUnitsOfAUserUntilOneIsGivenBack() {
		this.sale.open(3, 1);
		String id = this.sale.reserved("ann");
		assertRefused(this.sale.reserve("ann", this.key), 409, "limit-reached");
		this.sale.cancel(id);
		assertThat(this.sale.reserve("ann", this.key).statusCode()).isEqualTo(201);
	}

	@Test
	void reservesWithAKeyThatCameBeforeTheSale() {
		assertRefused(this.sale.reserve("ann", this.key), 409, "not-on-sale");
		this.sale.open(1, 1);
		assertThat(this.sale.reserve("ann", this.key).statusCode()).isEqualTo(201);
	}

	@Test
	void remembersThatAReservationHasEnded() {
		this.sale.open(1, 1);
		String id = idOf(this.sale.reserve("ann", this.key));
		this.sale.cancel(id);
		wipe(id);
		assertRefused(this.sale.reserve("ann", this.key), 410, "reservation-ended");
		HttpResponse<String> again = this.sale.reserve("ann", this.key);
		assertRefused(again, 410, "reservation-ended");
		assertThat(isReplayed(again)).isTrue();
		assertThat(held()).isZero();
	}

	@Test
	void refusesTheKeyOfAnotherBuyerWhenRedisHasLostIt() {
		this.sale.open(2, 1);
		HttpResponse<String> first = this.sale.reserve("ann", this.key);
		wipe(idOf(first));
		assertRefused(this.sale.reserve("bob", this.key), 409, "reservation-mismatched");
		assertThat(this.sale.reserve("ann", this.key).body()).isEqualTo(first.body());
		assertThat(held()).isOne();
	}

	@Test
	void refusesWithoutAskingTheDatabase() {
		this.sale.open(1, 1);
		this.sale.reserved("ann");
		this.transaction.executeWithoutResult((status) -> {
			lock("flash_sale, stock_shelf, stock_owner, reservation");
			assertRefused(this.sale.reserve("bob", this.key), 409, "sold-out");
			assertRefused(this.sale.reserve("ann", ShopClient.newKey()), 409, "limit-reached");
		});
	}

	@Test
	void reservesWithTheSameKeyWhenTheDatabaseRespondsAgain() {
		this.sale.open(1, 1);
		this.transaction.executeWithoutResult((status) -> {
			lock("stock_owner");
			HttpResponse<String> refused = this.sale.reserve("ann", this.key);
			assertRefused(refused, 503, "unavailable");
			assertThat(refused.headers().firstValue("Retry-After")).hasValue("1");
		});
		assertThat(this.sale.reserve("ann", this.key).statusCode()).isEqualTo(201);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "a b", "a\\u0000b", "\\ud800", "../x", "{x}" })
	void refusesAnInvalidUser(String user) {
		this.sale.open(1, 1);
		assertThat(this.sale.reserve(user, this.key).statusCode()).isEqualTo(400);
		assertThat(this.sale.buyNaively(user, ShopClient.newKey()).statusCode()).isEqualTo(400);
		assertThat(this.sale.reserve("ann", this.key).statusCode()).isEqualTo(201);
	}

	@Test
	void refusesALongUser() {
		this.sale.open(1, 1);
		assertThat(this.sale.reserve("a".repeat(10_000), this.key).statusCode()).isEqualTo(400);
	}

	@Test
	void requiresAKey() {
		this.sale.open(1, 1);
		String path = "/api/flash-sales/" + this.sale.item() + "/reservations";
		assertThat(this.shop.post(path, "{\"userId\": \"ann\"}").statusCode()).isEqualTo(400);
	}

	@ParameterizedTest
	@ValueSource(strings = { "fail=before-commit", "fail=after-commit" })
	void reservesOneUnitIfItFails(String chaos) {
		this.sale.open(1, 1);
		assertThat(this.sale.reserve("ann", this.key, "X-Chaos", chaos).statusCode()).isEqualTo(500);
		assertThat(held()).isEqualTo(chaos.endsWith("after-commit") ? 1 : 0);
		assertThat(this.sale.reserve("ann", this.key).statusCode()).isEqualTo(201);
		assertThat(held()).isOne();
	}

	/**
	 * The database ends the transaction of a test whose request never gets a response.
	 */
	private void lock(String tables) {
		this.jdbc.sql("set local idle_in_transaction_session_timeout = '30s'").update();
		this.jdbc.sql("lock table " + tables + " in access exclusive mode").update();
	}

	private int held() {
		return JsonPath.read(this.sale.view().body(), "$.held");
	}

	private void wipe(String reservationId) {
		Set<String> lost = this.redis.keys("*" + reservationId + "*");
		assertThat(lost).isNotEmpty();
		lost.addAll(this.redis.keys("sale:{" + this.sale.item() + "}:*"));
		this.redis.delete(lost);
	}

}
