package dev.idempotent.sample.dashboard;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import com.jayway.jsonpath.DocumentContext;
import com.jayway.jsonpath.JsonPath;
import dev.idempotent.saga.Sagas;
import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.ShopTest;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.TestPropertySource;
import org.yaml.snakeyaml.Yaml;

import static org.assertj.core.api.Assertions.assertThat;

@ShopTest
@TestPropertySource(properties = { "idempotent.replay-cache.max-size=1MB", "idempotent.saga.initialize-schema=always" })
@Import(MeteredSaga.class)
class DashboardIntegrationTests {

	private static final Path FOLDER = Path.of("..", "docs", "grafana");

	private final DocumentContext dashboard;

	private final ShopClient shop;

	private final MeteredSaga saga;

	private final Sagas sagas;

	DashboardIntegrationTests(@LocalServerPort int port, @Autowired MeteredSaga saga, @Autowired Sagas sagas)
			throws IOException {
		this.dashboard = JsonPath.parse(Files.readString(FOLDER.resolve("idempotent.json")));
		this.shop = new ShopClient(port);
		this.saga = saga;
		this.sagas = sagas;
	}

	/**
	 * Some meters exist only after their first event.
	 */
	@BeforeEach
	void registerEachMeter() {
		this.shop.placeOrder(ShopClient.newUser());
		String key = ShopClient.newKey();
		this.sagas.signal(this.sagas.idOf("metered", key), "signal");
		this.saga.run(key);
		Awaitility.await().atMost(1, TimeUnit.MINUTES).until(() -> {
			if (hasRetriedASettlement()) {
				return true;
			}
			cutRedisOffDuringAnOrder();
			return false;
		});
	}

	@Test
	void showsOnlyWhatPrometheusReads() {
		List<String> expressions = this.dashboard.read("$.panels[*].targets[*].expr");
		assertThat(expressions).isNotEmpty();
		awaitNothingMissing(expressions);
	}

	@Test
	void alertsOnWhatPrometheusReads() throws IOException {
		Object alerts = new Yaml().load(Files.readString(FOLDER.resolve("alerts.yml")));
		List<String> expressions = JsonPath.read(alerts,
				"$.groups[*].rules[?(@.alert && @.for && @.labels.severity)].expr");
		assertThat(expressions).hasSize(6);
		awaitNothingMissing(expressions);
	}

	@Test
	void showsEachMeterOfTheStarter() {
		Set<String> shown = JsonPath.<List<String>>read(this.dashboard.jsonString(), "$.panels[*].targets[*].expr")
			.stream()
			.flatMap((expression) -> Selector.in(expression).stream())
			.map((selector) -> Scrape.meterOf(selector.metric()))
			.collect(Collectors.toCollection(TreeSet::new));
		// An observation also has a meter of what is in progress.
		assertThat(scrape().metrics().keySet())
			.filteredOn((name) -> name.matches("(idempotency|outbox|saga|stream)_.*"))
			.filteredOn((name) -> !name.contains("_active_seconds"))
			.isNotEmpty()
			.allSatisfy((name) -> assertThat(shown).contains(Scrape.meterOf(name)));
	}

	@Test
	void readsFromTheSelectedDataSource() {
		assertThat(this.dashboard.<List<String>>read("$.panels[?(@.targets)].datasource.uid"))
			.containsOnly("${datasource}");
		assertThat(this.dashboard.<List<String>>read("$.templating.list[?(@.type == 'datasource')].name"))
			.containsExactly("datasource");
	}

	private void awaitNothingMissing(List<String> expressions) {
		Awaitility.await().atMost(1, TimeUnit.MINUTES).untilAsserted(() -> {
			Scrape scrape = scrape();
			assertThat(expressions).flatExtracting(scrape::missing).isEmpty();
		});
	}

	private Scrape scrape() {
		return Scrape.parse(metrics());
	}

	private String metrics() {
		return this.shop.get("/actuator/prometheus").body();
	}

	private boolean hasRetriedASettlement() {
		return scrape().metrics().containsKey("idempotency_settlements_retried_total");
	}

	private void cutRedisOffDuringAnOrder() {
		CompletableFuture<HttpResponse<String>> order = this.shop.postAsync("/api/orders/lease",
				ShopClient.orderOf("ann", 1), "Idempotency-Key", ShopClient.newKey(), "X-Chaos", "delay=2000");
		Awaitility.await()
			.atMost(1, TimeUnit.MINUTES)
			.until(() -> order.isDone() || metrics().contains("idempotency_runs_active 1.0"));
		chaos("cut");
		order.join();
		chaos("restore");
	}

	private void chaos(String action) {
		this.shop.post("/api/chaos/redis", "{\"action\": \"" + action + "\"}");
	}

}
