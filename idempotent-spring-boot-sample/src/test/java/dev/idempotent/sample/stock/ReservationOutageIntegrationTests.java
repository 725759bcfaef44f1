package dev.idempotent.sample.stock;

import java.time.Duration;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import dev.idempotent.sample.ShopTest;
import dev.idempotent.sample.chaos.Chaos;
import dev.idempotent.sample.stock.ReserveResult.Outcome;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@ShopTest
class ReservationOutageIntegrationTests {

	private static final Duration TIMELY = Duration.ofMinutes(1);

	private final LettuceConnectionFactory away = new LettuceConnectionFactory("127.0.0.1", 1);

	private final StockLedger ledger;

	private final Reservations reservations;

	private final Reservations withoutRedis;

	private final Reconciler reconciler;

	private final JdbcClient jdbc;

	private final TransactionTemplate transaction;

	private final Sales sales;

	private final String item;

	ReservationOutageIntegrationTests(@Autowired StockLedger ledger, @Autowired Reservations reservations,
			@Autowired Reconciler reconciler, @Autowired StockMovements movements, @Autowired JsonMapper json,
			@Autowired JdbcClient jdbc, @Autowired PlatformTransactionManager transactions) {
		this.away.afterPropertiesSet();
		this.away.start();
		this.ledger = ledger;
		this.reservations = reservations;
		this.withoutRedis = new Reservations(new StockGate(new StringRedisTemplate(this.away), json), reconciler,
				ledger, movements, new Chaos(), transactions);
		this.reconciler = reconciler;
		this.jdbc = jdbc;
		this.transaction = new TransactionTemplate(transactions);
		this.sales = new Sales(ledger, jdbc, this.transaction);
		this.item = this.sales.open(3, 3);
	}

	@AfterEach
	void countEachUnitOnce() {
		this.away.destroy();
		this.sales.assertSound();
	}

	@Test
	void endWithoutRedis() {
		String confirmed = reserve();
		String cancelled = reserve();
		String expired = reserve();
		assertThatExceptionOfType(DataAccessException.class)
			.isThrownBy(() -> this.withoutRedis.reserve(id(), this.item, "ann"));
		assertThat(this.sales.confirm(this.withoutRedis, confirmed)).isTrue();
		assertThat(this.withoutRedis.cancel(cancelled)).isEqualTo(CancelOutcome.CANCELLED);
		this.sales.expire(expired);
		new ExpirySweeper(this.ledger, this.withoutRedis).sweep();
		assertThat(this.sales.view(this.item).free()).isEqualTo(2);
	}

	@Test
	void outliveAWipeOfRedis(@Autowired StringRedisTemplate redis) {
		String id = reserve();
		reserve();
		redis.delete(StockGate.keys(this.item));
		assertThat(this.reservations.reserve(id, this.item, "ann").outcome()).isEqualTo(Outcome.ALREADY_RESERVED);
		reserve();
		assertThat(this.reservations.reserve(id(), this.item, "bob").outcome()).isEqualTo(Outcome.SOLD_OUT);
	}

	@Test
	void failInTimeWhileATableIsLocked() {
		String loaded = reserve();
		String other = this.sales.open(1, 1);
		this.transaction.executeWithoutResult((status) -> {
			this.jdbc.sql("lock table reservation, stock_shelf").update();
			CompletableFuture<?> first = CompletableFuture.supplyAsync(() -> reserve(other));
			CompletableFuture<?> second = CompletableFuture.supplyAsync(() -> reserve(other));
			CompletableFuture<?> found = CompletableFuture.supplyAsync(() -> this.reservations.find(loaded));
			assertThat(CompletableFuture.supplyAsync(() -> this.reconciler.warm(this.item))).succeedsWithin(TIMELY);
			Stream.of(first, second, found)
				.forEach((waiting) -> assertThat(waiting).failsWithin(TIMELY)
					.withThrowableThat()
					.withCauseInstanceOf(DataAccessException.class));
		});
	}

	private String reserve(String item) {
		return Objects.requireNonNull(this.reservations.reserve(id(), item, "ann").reservation()).reservationId();
	}

	private String reserve() {
		return reserve(this.item);
	}

	private static String id() {
		return UUID.randomUUID().toString();
	}

}
