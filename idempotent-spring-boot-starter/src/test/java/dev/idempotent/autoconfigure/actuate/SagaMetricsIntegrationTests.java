package dev.idempotent.autoconfigure.actuate;

import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;

import dev.idempotent.autoconfigure.actuate.SagaShop.Checkout;
import dev.idempotent.autoconfigure.actuate.SagaShop.Checkout.Payment;
import dev.idempotent.autoconfigure.actuate.SagaShop.Warehouse;
import dev.idempotent.documentation.Page;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.SagaCompensatedException;
import dev.idempotent.saga.SagaHaltedException;
import dev.idempotent.saga.SagaWaitingException;
import dev.idempotent.saga.Sagas;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.jdbc.core.JdbcTemplate;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for the meters of sagas, read over HTTP, in an application whose sagas are in
 * PostgreSQL.
 */
class SagaMetricsIntegrationTests {

	private static final String PAGE = "docs/observability.md";

	/**
	 * Of a row in the tables of meters, split at its lines.
	 */
	private static final int COLUMNS = 5;

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication application = RunningApplication.of(SagaMetricsIntegrationTests::start)
		.resetting(Warehouse.class, (warehouse) -> warehouse.acceptReturns(true));

	private final String order = UUID.randomUUID().toString();

	private static WebApplication start() {
		List<String> properties = new ArrayList<>(postgres.properties());
		properties.addAll(List.of(WebApplication.WITH_DATABASE, "idempotent.jdbc.initialize-schema=always",
				"idempotent.jdbc.table=metered_saga_record", "idempotent.saga.initialize-schema=always",
				"idempotent.saga.table-prefix=metered_saga_", "management.endpoints.web.exposure.include=metrics"));
		return WebApplication.start(SagaShop.class, List::of, properties.toArray(String[]::new));
	}

	@Test
	void existBeforeTheFirstSaga() {
		assertThat(List.of("completed", "compensated", "halted"))
			.allSatisfy((status) -> assertThat(get("saga.ended", "saga:checkout", "status:" + status).statusCode())
				.isEqualTo(200));
		assertThat(get("saga.taken.over", "saga:checkout").statusCode()).isEqualTo(200);
		assertThat(get("saga.fenced", "saga:checkout").statusCode()).isEqualTo(200);
		assertThat(value("saga.running")).isZero();
	}

	@Test
	void countTheEndsOfSagasAndTheCallsOfTheirSteps() {
		double completed = count("saga.ended", "saga:checkout", "status:completed");
		checkout().place(this.order, "good");
		assertThat(count("saga.ended", "saga:checkout", "status:completed")).isEqualTo(completed + 1);
		double compensated = count("saga.ended", "saga:checkout", "status:compensated");
		double done = count("saga.step", "step:hold", "outcome:done");
		assertThatExceptionOfType(SagaCompensatedException.class)
			.isThrownBy(() -> checkout().place(this.order + "-2", "refused"));
		assertThat(count("saga.ended", "saga:checkout", "status:compensated")).isEqualTo(compensated + 1);
		assertThat(count("saga.step", "step:hold", "outcome:done")).isEqualTo(done + 1);
		assertThat(count("saga.step", "step:charge", "outcome:refused")).isPositive();
		assertThat(count("saga.step", "step:hold", "outcome:compensated")).isPositive();
		assertThat(count("saga.step", "step:order", "outcome:compensated")).isPositive();
	}

	@Test
	void measureTheContentsOfTheDatabase() {
		application.bean(Warehouse.class).acceptReturns(false);
		double halted = count("saga.ended", "saga:checkout", "status:halted");
		assertThatExceptionOfType(SagaHaltedException.class).isThrownBy(() -> checkout().place(this.order, "refused"));
		assertThat(count("saga.ended", "saga:checkout", "status:halted")).isEqualTo(halted + 1);
		await().atMost(Duration.ofMinutes(1)).untilAsserted(() -> assertThat(value("saga.halted")).isEqualTo(1));
		// No method has this name, so the saga stays due.
		application.bean(JdbcTemplate.class)
			.update("update metered_saga_instance set status = 'COMPENSATING', name = 'former', "
					+ "due_at = now() - interval '10 minutes' where status = 'HALTED'");
		await().atMost(Duration.ofMinutes(1)).untilAsserted(() -> assertThat(value("saga.halted")).isZero());
		assertThat(value("saga.open")).isEqualTo(1);
		assertThat(value("saga.unserved")).isEqualTo(1);
		assertThat(value("saga.due.age")).isBetween(600.0, 1200.0);
		application.bean(JdbcTemplate.class).update("delete from metered_saga_instance where name = 'former'");
	}

	@Test
	void countSagasThatAreTakenOver() {
		double before = count("saga.taken.over", "saga:checkout");
		application.bean(Warehouse.class).failNextCharge();
		assertThat(checkout().place(this.order, "good")).isEqualTo(this.order);
		assertThat(count("saga.step", "step:charge", "outcome:unknown")).isPositive();
		assertThat(count("saga.taken.over", "saga:checkout")).isEqualTo(before + 1);
	}

	@Test
	void matchTheDocumentedMeters() {
		checkout().place(this.order, "good");
		IdempotencyKey waiting = catchThrowableOfType(SagaWaitingException.class,
				() -> checkout().place(this.order + "-transfer", "transfer"))
			.id();
		application.bean(Sagas.class).signal(waiting, "paid", new Payment(1));
		await()
			.untilAsserted(() -> assertThat(count("saga.wait", "saga:checkout", "wait:paid", "outcome:done")).isOne());
		Map<String, String> meters = application.bean(MeterRegistry.class)
			.getMeters()
			.stream()
			.filter((meter) -> meter.getId().getName().startsWith("saga."))
			.collect(Collectors.toMap((meter) -> meter.getId().getName(), SagaMetricsIntegrationTests::describe,
					(one, other) -> one, TreeMap::new));
		assertThat(documented()).isEqualTo(meters);
	}

	@Test
	void countLostSagas() {
		double before = count("saga.fenced", "saga:former");
		application.bean(SagaMetrics.class).fenced("former");
		assertThat(count("saga.fenced", "saga:former")).isEqualTo(before + 1);
	}

	private static String describe(Meter meter) {
		String tags = meter.getId().getTags().stream().map(Tag::getKey).sorted().collect(Collectors.joining(", "));
		String kind = meter.getId().getType().name().toLowerCase(Locale.ROOT).replace('_', ' ');
		String unit = meter.getId().getBaseUnit();
		return kind + ((unit == null || kind.equals("timer")) ? "" : ", " + unit) + ";" + tags;
	}

	/**
	 * Name, and kind with unit, and tags. A timer has seconds.
	 */
	private static Map<String, String> documented() {
		return Page.source(PAGE)
			.lines()
			.filter((line) -> line.startsWith("| `saga."))
			.map((line) -> line.replace("`", "").split("\\|"))
			.filter((cells) -> cells.length == COLUMNS)
			.collect(Collectors.toMap((cells) -> cells[1].strip(), (cells) -> cells[2].strip() + ";" + cells[3].strip(),
					(one, other) -> one, TreeMap::new));
	}

	private static Checkout checkout() {
		return application.bean(Checkout.class);
	}

	/**
	 * The count of a meter with these tags, 0 if it does not exist.
	 */
	private static double count(String name, String... tags) {
		HttpResponse<byte[]> response = get(name, tags);
		if (response.statusCode() == 404) {
			return 0;
		}
		Map<String, Double> measured = measured(response);
		assertThat(measured).containsKey("COUNT");
		return measured.getOrDefault("COUNT", Double.NaN);
	}

	private static double value(String name) {
		return measured(get(name)).getOrDefault("VALUE", Double.NaN);
	}

	private static HttpResponse<byte[]> get(String name, String... tags) {
		String query = List.of(tags).stream().map((tag) -> "tag=" + tag).collect(Collectors.joining("&", "?", ""));
		return application.send(application.request("/actuator/metrics/" + name + query).GET().build());
	}

	private static Map<String, Double> measured(HttpResponse<byte[]> response) {
		assertThat(response.statusCode()).as(WebApplication.text(response)).isEqualTo(200);
		Map<String, Double> measured = new TreeMap<>();
		for (JsonNode each : JsonMapper.shared().readTree(response.body()).get("measurements")) {
			measured.put(each.get("statistic").asString(), each.get("value").asDouble());
		}
		return measured;
	}

}
