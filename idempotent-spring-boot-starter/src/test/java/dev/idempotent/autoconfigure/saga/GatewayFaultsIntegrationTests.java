package dev.idempotent.autoconfigure.saga;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;

import dev.idempotent.idempotency.Cancels;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.web.IdempotencyScopeResolver;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.saga.Sagas;
import dev.idempotent.testing.FaultyGateway;
import dev.idempotent.testing.FaultyGateway.Fault;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.RestClient;
import org.springframework.web.server.ResponseStatusException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Sagas whose participant is a real service behind a gateway that fails. What counts is
 * what stands in the books of the service when the saga has ended.
 */
class GatewayFaultsIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private static final FaultyGateway gateway = new FaultyGateway();

	@SuppressWarnings("NullAway.Init")
	private static WebApplication warehouse;

	@SuppressWarnings("NullAway.Init")
	private static WebApplication shop;

	private final String order = UUID.randomUUID().toString();

	@BeforeAll
	static void start() {
		warehouse = start(Warehouse.class, "idempotent.jdbc.lock-timeout=100ms");
		JdbcTemplate books = warehouse.bean(JdbcTemplate.class);
		books.execute("drop table if exists hold_book");
		books.execute("create table hold_book (act varchar(20), hold varchar(40))");
		gateway.to(warehouse.request("/").build().uri());
		shop = start(Shop.class, "idempotent.client.targets.warehouse=" + gateway.url(),
				"test.warehouse=" + gateway.url(), "idempotent.saga.initialize-schema=always",
				"idempotent.saga.table-prefix=gateway_saga_", "idempotent.saga.attempts=4",
				"idempotent.saga.wait-timeout=1ms", "spring.http.clients.redirects=dont-follow",
				"spring.http.clients.read-timeout=2s");
	}

	@AfterAll
	static void stop() {
		shop.close();
		warehouse.close();
		gateway.close();
	}

	@AfterEach
	void recover() {
		gateway.recover();
	}

	/**
	 * Whatever the gateway does once, the saga completes with one hold.
	 */
	@ParameterizedTest
	@EnumSource
	void completeWithOneHoldAfterAFaultOfTheAction(Fault fault) {
		gateway.fail("/hold", fault);
		assertThat(run("complete")).isEqualTo(SagaStatus.COMPLETED);
		assertThat(books()).containsExactly("hold");
	}

	@ParameterizedTest
	@EnumSource
	void leaveNoHoldAfterAFaultOfTheActionAndAnUndo(Fault fault) {
		gateway.fail("/hold", fault);
		assertThat(run("undo")).isEqualTo(SagaStatus.COMPENSATED);
		assertThat(books()).containsExactly("hold", "release");
	}

	@ParameterizedTest
	@EnumSource
	void leaveNoHoldAfterAFaultOfTheCancellation(Fault fault) {
		gateway.fail("/release", fault);
		assertThat(run("undo")).isEqualTo(SagaStatus.COMPENSATED);
		assertThat(books()).containsExactly("hold", "release");
	}

	/**
	 * The gateway answers for the service all the time, which never sees the action: the
	 * release of what was never held must not run.
	 */
	@ParameterizedTest
	@EnumSource(names = { "EMPTY_200", "HTML_200" })
	void releaseNothingThatWasNeverHeld(Fault fault) {
		gateway.failAlways("/hold", fault);
		assertThat(run("complete")).isEqualTo(SagaStatus.COMPENSATED);
		assertThat(books()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(names = { "EMPTY_200", "HTML_200", "HTML_404", "HTML_403" })
	void areHaltedIfTheGatewayAlwaysAnswersForTheCancellation(Fault fault) {
		gateway.failAlways("/release", fault);
		assertThat(run("undo")).isEqualTo(SagaStatus.HALTED);
		assertThat(books()).containsExactly("hold");
	}

	@Test
	void refuseALateActionAfterItsCancellation() {
		gateway.failAlways("/hold", Fault.LATE);
		assertThat(run("complete")).isEqualTo(SagaStatus.COMPENSATED);
		gateway.deliverLate();
		assertThat(books()).isEmpty();
	}

	@Test
	void areRefusedByTheServiceItself() {
		assertThat(run("refused")).isEqualTo(SagaStatus.COMPENSATED);
		assertThat(books()).isEmpty();
		assertThat(gateway.requests("/hold")).isOne();
	}

	/**
	 * The conflict that the second request meets is not one of the business, although the
	 * step names its status.
	 */
	@ParameterizedTest
	@EnumSource(names = { "AT_ONCE", "AT_ONCE_REPLACED" })
	void doNotTakeTheConflictOfTwoRequestsForARefusal(Fault fault) {
		gateway.fail("/charge", fault);
		assertThat(run("slow")).isEqualTo(SagaStatus.COMPLETED);
		assertThat(books()).containsExactly("hold", "charge");
	}

	private SagaStatus run(String plan) {
		Sagas sagas = shop.bean(Sagas.class);
		Booking booking = shop.bean(Booking.class);
		IdempotencyKey id = sagas.start(() -> booking.place(new Command(this.order, plan)));
		return await().atMost(Duration.ofMinutes(2))
			.until(() -> sagas.find(id).orElseThrow().status(), (status) -> !status.isOpen());
	}

	private List<String> books() {
		return warehouse.bean(JdbcTemplate.class)
			.queryForList("select act from hold_book where hold = ?", String.class, this.order);
	}

	private static WebApplication start(Class<?> source, String... properties) {
		return WebApplication.start(source, redis,
				Stream
					.of(postgres.properties().stream(),
							Stream.of(WebApplication.WITH_DATABASE, "idempotent.jdbc.initialize-schema=always"),
							Stream.of(properties))
					.flatMap((some) -> some)
					.toArray(String[]::new));
	}

	record Command(String order, String plan) {
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Booking.class)
	static class Shop {

	}

	static class Booking {

		private final SagaSteps saga;

		private final RestClient client;

		Booking(SagaSteps saga, RestClient.Builder client, @Value("${test.warehouse}") String url) {
			this.saga = saga;
			this.client = client.baseUrl(url).build();
		}

		@Saga(name = "gateway-booking", key = "#command.order", timeout = "10m")
		public void place(Command command) {
			this.saga.step("hold").cancel(() -> send("release", command)).run(() -> send("hold", command));
			if (command.plan().equals("slow")) {
				this.saga.step("charge").refusedBy(409).run(() -> send("charge", command));
			}
			if (command.plan().equals("undo")) {
				throw new UnsupportedOperationException("Undo");
			}
		}

		private void send(String path, Command command) {
			this.client.post().uri("/" + path).body(command).retrieve().toBodilessEntity();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Holds.class)
	static class Warehouse {

		@Bean
		IdempotencyScopeResolver oneCaller() {
			return (request) -> "shop";
		}

	}

	@RestController
	static class Holds {

		private final JdbcTemplate jdbc;

		Holds(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@Idempotent(name = "gateway-hold", guarantee = Guarantee.TRANSACTION)
		@PostMapping("/hold")
		Map<String, String> hold(@RequestBody Command command) {
			if (command.plan().equals("refused")) {
				throw new ResponseStatusException(HttpStatus.UNPROCESSABLE_CONTENT);
			}
			write("hold", command);
			return Map.of("hold", command.order());
		}

		@Cancels("gateway-hold")
		@Idempotent(name = "gateway-release", guarantee = Guarantee.TRANSACTION)
		@PostMapping("/release")
		Map<String, String> release(@RequestBody Command command) {
			write("release", command);
			return Map.of("released", command.order());
		}

		/**
		 * Is slow, so that a request that was sent at the same time meets it.
		 */
		@Idempotent(name = "gateway-charge", guarantee = Guarantee.TRANSACTION)
		@PostMapping("/charge")
		Map<String, String> charge(@RequestBody Command command) {
			write("charge", command);
			this.jdbc.queryForList("select pg_sleep(1)");
			return Map.of("charge", command.order());
		}

		private void write(String act, Command command) {
			this.jdbc.update("insert into hold_book values (?, ?)", act, command.order());
		}

	}

}
