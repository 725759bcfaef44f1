package dev.idempotent.sample.stock;

import java.time.Duration;
import java.util.UUID;

import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.ShopTest;
import dev.idempotent.sample.stock.ReserveResult.Outcome;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.context.TestPropertySource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@ShopTest
@TestPropertySource(properties = "spring.application.name=shop-with-outages")
class ReservationOutageIntegrationTests {

	private final ShopClient shop;

	private final Sales sales;

	@Autowired
	private Reservations reservations;

	@Autowired
	private StockGate gate;

	private String item = "";

	ReservationOutageIntegrationTests(@LocalServerPort int port, @Autowired StockLedger ledger,
			@Autowired JdbcClient jdbc, @Autowired PlatformTransactionManager transactions) {
		this.shop = new ShopClient(port);
		this.sales = new Sales(ledger, jdbc, new TransactionTemplate(transactions));
	}

	@BeforeEach
	void open() {
		this.item = this.sales.open(3, 3);
	}

	@AfterEach
	void countEachUnitOnce() {
		redis("restore");
		this.sales.assertSound();
	}

	@Test
	void endWithoutRedis() {
		String confirmed = reserve();
		String cancelled = reserve();
		String expired = reserve();
		redis("cut");
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(this::reserve);
		assertThat(this.sales.confirm(this.reservations, confirmed)).isTrue();
		assertThat(this.reservations.cancel(cancelled)).isEqualTo(CancelOutcome.CANCELLED);
		this.sales.expire(expired);
		Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> this.sales.view(this.item).free() == 2);
		redis("restore");
		Awaitility.await()
			.atMost(Duration.ofSeconds(60))
			.ignoreExceptions()
			.until(() -> this.gate.view(this.item).get().units() == 2);
	}

	@Test
	void repeatAReservationAfterAWipe() {
		String id = reserve();
		reserve();
		redis("wipe");
		assertThat(this.reservations.reserve(id, this.item, "ann").outcome()).isEqualTo(Outcome.ALREADY_RESERVED);
		reserve();
		assertThat(this.reservations.reserve(id(), this.item, "bob").outcome()).isEqualTo(Outcome.SOLD_OUT);
	}

	private String reserve() {
		return this.reservations.reserve(id(), this.item, "ann").reservation().reservationId();
	}

	private void redis(String action) {
		assertThat(this.shop.post("/api/chaos/redis", "{\"action\": \"" + action + "\"}").statusCode()).isEqualTo(200);
	}

	private static String id() {
		return UUID.randomUUID().toString();
	}

}
