package dev.idempotent.autoconfigure.saga;

import java.time.Duration;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;

import dev.idempotent.idempotency.Cancels;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.ServiceResponse;
import dev.idempotent.idempotency.web.IdempotencyScopeResolver;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.saga.Sagas;
import dev.idempotent.testing.FaultyGateway;
import dev.idempotent.testing.FaultyGateway.Fault;
import dev.idempotent.testing.PaymentProvider;
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

	private static final PaymentProvider provider = new PaymentProvider();

	private static final FaultyGateway bank = new FaultyGateway();

	/**
	 * The calls to the provider.
	 */
	private static final Set<String> PROVIDED = Set.of("/charges", "/refunds");

	@SuppressWarnings("NullAway.Init")
	private static WebApplication travel;

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
		books.execute("create table hold_book (id bigserial, act varchar(20), hold varchar(40))");
		gateway.to(warehouse.request("/").build().uri());
		shop = start(Shop.class, "idempotent.client.targets.warehouse=" + gateway.url(),
				"test.warehouse=" + gateway.url(), "idempotent.saga.initialize-schema=always",
				"idempotent.saga.table-prefix=gateway_saga_", "idempotent.saga.attempts=4",
				"idempotent.saga.wait-timeout=1ms", "spring.http.clients.redirects=dont-follow",
				"spring.http.clients.read-timeout=2s");
		bank.to(provider.uri());
		travel = start(Travel.class, "idempotent.client.targets.warehouse=" + gateway.url(),
				"idempotent.client.targets.bank=" + bank.url(), "idempotent.client.honouring-keys=bank",
				"test.warehouse=" + gateway.url(), "test.bank=" + bank.url(),
				"idempotent.saga.initialize-schema=always", "idempotent.saga.table-prefix=travel_saga_",
				"idempotent.saga.workers=16", "spring.http.clients.redirects=dont-follow",
				"spring.http.clients.read-timeout=2s");
	}

	@AfterAll
	static void stop() {
		shop.close();
		travel.close();
		warehouse.close();
		gateway.close();
		bank.close();
		provider.close();
	}

	@AfterEach
	void recover() {
		gateway.recover();
	}

	/**
	 * Each fault once, of each call of sagas with steps of each kind, forward and
	 * backward, all at the same time; and the books of both services.
	 */
	@Test
	void haveEachEffectOnceWhateverAGatewayDoesWithAnyCall() {
		Sagas sagas = travel.bean(Sagas.class);
		Trip trip = travel.bean(Trip.class);
		Map<Journey, IdempotencyKey> started = new LinkedHashMap<>();
		for (String path : List.of("/hold", "/reserve", "/notify", "/charges", "/release", "/unreserve", "/refunds")) {
			for (Fault fault : EnumSet.complementOf(EnumSet.of(Fault.BODY_LOST))) {
				for (String plan : List.of("complete", "undo")) {
					Journey journey = new Journey(path, fault, new Command(UUID.randomUUID().toString(), plan));
					(PROVIDED.contains(path) ? bank : gateway).fail(path + "?order=" + journey.command().order(),
							fault);
					started.put(journey, sagas.start(() -> trip.book(journey.command())));
				}
			}
		}
		await().atMost(Duration.ofMinutes(4))
			.until(() -> started.values().stream().noneMatch((id) -> sagas.find(id).orElseThrow().status().isOpen()));
		Map<Journey, String> wrong = new LinkedHashMap<>();
		started.forEach((journey, id) -> {
			boolean undone = journey.command().plan().equals("undo");
			// A cancellation does not wait for an undo whose outcome is unknown.
			String found = sagas.find(id).orElseThrow().status() + " "
					+ books(journey.command().order()).stream().sorted().toList() + " "
					+ provider.book(journey.command().order());
			String right = undone ? "COMPENSATED [hold, notify, release, reserve, unreserve] [charge, refund]"
					: "COMPLETED [hold, notify, reserve] [charge]";
			if (!found.equals(right)) {
				wrong.put(journey, found + ": " + sagas.find(id).orElseThrow());
			}
		});
		assertThat(wrong).isEmpty();
	}

	/**
	 * Without its body, a cancellation is the same one: whether the service has nothing
	 * to undo, or rejects the request before it runs.
	 */
	@Test
	void areUndoneAfterTheBodyOfTheirCancellationWasLost() {
		gateway.fail("/release", Fault.BODY_LOST);
		assertThat(run("undo")).isEqualTo(SagaStatus.COMPENSATED);
		assertThat(books()).containsExactly("hold", "release");
	}

	@Test
	void areUndoneAfterTheBodyOfTheCancellationOfNothingWasLost() {
		gateway.failAlways("/hold", Fault.UNAVAILABLE);
		gateway.fail("/release", Fault.BODY_LOST);
		assertThat(run("complete")).isEqualTo(SagaStatus.COMPENSATED);
		assertThat(books()).isEmpty();
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
		return end(start(plan));
	}

	private IdempotencyKey start(String plan) {
		Booking booking = shop.bean(Booking.class);
		return shop.bean(Sagas.class).start(() -> booking.place(new Command(this.order, plan)));
	}

	private static SagaStatus end(IdempotencyKey id) {
		Sagas sagas = shop.bean(Sagas.class);
		return await().atMost(Duration.ofMinutes(2))
			.until(() -> sagas.find(id).orElseThrow().status(), (status) -> !status.isOpen());
	}

	private List<String> books() {
		return books(this.order);
	}

	private static List<String> books(String order) {
		return warehouse.bean(JdbcTemplate.class)
			.queryForList("select act from hold_book where hold = ? order by id", String.class, order);
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

	/**
	 * A saga of the table.
	 *
	 * @param path the call that fails
	 * @param fault how it fails
	 */
	record Journey(String path, Fault fault, Command command) {
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Trip.class)
	static class Travel {

	}

	/**
	 * A saga with a call of each kind: one that is cancelled, one that is compensated at
	 * a participant, one that is not undone, and one of a payment provider.
	 */
	static class Trip {

		private final SagaSteps saga;

		private final RestClient warehouse;

		private final RestClient bank;

		Trip(SagaSteps saga, RestClient.Builder client, @Value("${test.warehouse}") String warehouse,
				@Value("${test.bank}") String bank) {
			this.saga = saga;
			this.warehouse = client.clone().baseUrl(warehouse).build();
			this.bank = client.clone().baseUrl(bank).build();
		}

		@Saga(name = "trip", key = "#command.order", timeout = "10m")
		public void book(Command command) {
			this.saga.step("hold").cancel(() -> send("release", command)).run(() -> send("hold", command));
			this.saga.step("reserve", String.class)
				.provenBy(ServiceResponse::hasReceipt)
				.compensate((reserved) -> send("unreserve", command))
				.run(() -> send("reserve", command));
			this.saga.step("notify").provenBy(ServiceResponse::hasReceipt).run(() -> send("notify", command));
			this.saga.step("charge")
				.provenBy("/status")
				.compensate(() -> pay("refunds", command))
				.run(() -> pay("charges", command));
			if (command.plan().equals("undo")) {
				throw new UnsupportedOperationException("Undo");
			}
		}

		private String send(String path, Command command) {
			return String.valueOf(this.warehouse.post()
				.uri("/{path}?order={order}", path, command.order())
				.body(command)
				.retrieve()
				.body(String.class));
		}

		private void pay(String path, Command command) {
			this.bank.post()
				.uri("/{path}?order={order}", path, command.order())
				.body(command.order())
				.retrieve()
				.toBodilessEntity();
		}

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

		@Idempotent(name = "gateway-reserve", guarantee = Guarantee.TRANSACTION)
		@PostMapping("/reserve")
		Map<String, String> reserve(@RequestBody Command command) {
			write("reserve", command);
			return Map.of("reserved", command.order());
		}

		@Idempotent(name = "gateway-unreserve", guarantee = Guarantee.TRANSACTION)
		@PostMapping("/unreserve")
		Map<String, String> unreserve(@RequestBody Command command) {
			write("unreserve", command);
			return Map.of("unreserved", command.order());
		}

		@Idempotent(name = "gateway-notify", guarantee = Guarantee.TRANSACTION)
		@PostMapping("/notify")
		Map<String, String> notify(@RequestBody Command command) {
			write("notify", command);
			return Map.of("notified", command.order());
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
			this.jdbc.update("insert into hold_book (act, hold) values (?, ?)", act, command.order());
		}

	}

}
