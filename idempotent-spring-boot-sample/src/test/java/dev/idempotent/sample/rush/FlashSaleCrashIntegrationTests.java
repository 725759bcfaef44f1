package dev.idempotent.sample.rush;

import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import javax.sql.DataSource;

import com.jayway.jsonpath.JsonPath;
import dev.idempotent.sample.crash.site.CrashSite;
import dev.idempotent.sample.rush.Answer.Kind;
import dev.idempotent.sample.rush.RushPlan.Behaviour;
import dev.idempotent.sample.rush.Verdict.Line;
import dev.idempotent.sample.rush.Verdict.State;
import dev.idempotent.sample.stock.GateView;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Sales on three instances, while Redis, PostgreSQL and the instances crash. The system
 * property {@code flash-sale.users} is the number of users of a sale,
 * {@code flash-sale.stock} the number of units, and {@code flash-sale.topology} is
 * {@code single} or {@code sentinel}. A sale begins until {@code crash.duration} is over.
 */
@Tag("long")
@DisabledOnOs(value = OS.WINDOWS, disabledReason = "its processes know no signals")
class FlashSaleCrashIntegrationTests {

	private static final int USERS = Integer.getInteger("flash-sale.users", 800);

	private static final int STOCK = Integer.getInteger("flash-sale.stock", 200);

	private static final int UNITS_PER_FAULT = 25;

	private static final Duration DURATION = DurationStyle.detectAndParse(System.getProperty("crash.duration", "0s"));

	private static final boolean SENTINEL = "sentinel".equals(System.getProperty("flash-sale.topology"));

	private final CrashSite site = CrashSite.open(Path.of("target", "flash-sale-crash"), jar(), SENTINEL, 3,
			List.of("--sample.sale.hold=3s"));

	@Test
	void keepsEveryPromiseWhileEverythingCrashes() {
		long end = System.nanoTime() + DURATION.toNanos();
		try {
			do {
				sell();
			}
			while (System.nanoTime() < end);
		}
		finally {
			this.site.close();
		}
	}

	private void sell() {
		List<Map.Entry<String, Runnable>> faults = List.copyOf(faults().entrySet());
		try (Rush rush = rush()) {
			rush.open();
			CompletableFuture<Void> sale = CompletableFuture.runAsync(rush::run);
			int done = 0;
			while (UNITS_PER_FAULT * (done + 1) < STOCK) {
				Map.Entry<String, Runnable> fault = faults.get(done % faults.size());
				// Each fault falls into the sale, however fast the machine is.
				await(rush, sale, UNITS_PER_FAULT * ++done);
				this.site.journal().during(fault.getKey(), fault.getValue());
			}
			this.site.awaitReady();
			sale.join();
			Verdict verdict = rush.verdict();
			System.out.printf("%d users, %d units, %d faults: %s, %s%n", USERS, STOCK, done, rush.figures().answers(),
					verdict.lines());
			assertThat(verdict.lines().stream().filter(this::isBroken)).as(rush.view().toString()).isEmpty();
		}
	}

	private static void await(Rush rush, CompletableFuture<Void> sale, int reserved) {
		Awaitility.await()
			.atMost(Duration.ofMinutes(2))
			.until(() -> rush.figures().answers().getOrDefault(Kind.RESERVED, 0L) >= reserved || sale.isDone());
	}

	private Map<String, Runnable> faults() {
		Map<String, Runnable> faults = new LinkedHashMap<>();
		faults.put("flush", this.site.redis()::flush);
		faults.put("kill", this.site.instances().get(0)::kill);
		faults.put(SENTINEL ? "failover" : "redis-restart", () -> {
			int master = this.site.redis().port();
			this.site.redis().stop(!SENTINEL);
			if (SENTINEL) {
				Awaitility.await("another master")
					.atMost(Duration.ofMinutes(1))
					.until(() -> this.site.redis().port() != master);
			}
			this.site.redis().start();
			this.site.redis().awaitReady();
		});
		faults.put("postgres-crash", () -> {
			this.site.postgres().crash();
			this.site.postgres().start();
		});
		faults.put("redis-lost-reply", this.site.redis()::loseReply);
		faults.put("postgres-lost-commit", this.site.postgres()::loseConfirmation);
		faults.put("redis-cut", this.site.redis()::cut);
		return faults;
	}

	/**
	 * With a Sentinel, events that the master has confirmed can be lost.
	 */
	private boolean isBroken(Line line) {
		return line.state() != State.HOLDS && !(SENTINEL && line.number() == 5 && line.detail().contains("has 0 "));
	}

	private Rush rush() {
		ShopHttp shop = new ShopHttp(this.site.instances().stream().map((instance) -> instance.uri("/")).toList());
		DataSource database = this.site.postgres().dataSource();
		SaleAuditor auditor = new SaleAuditor(JdbcClient.create(database), new JdbcTransactionManager(database),
				(item) -> gate(shop, item));
		return new Rush(new RushPlan(USERS, STOCK, 2, Behaviour.PEOPLE, false, true), shop, auditor);
	}

	private static Optional<GateView> gate(ShopHttp shop, String item) {
		Answer answer = shop.get("/api/flash-sales/" + item).join();
		if (answer.status() != 200) {
			return Optional.empty();
		}
		return Optional.ofNullable(JsonPath.<Map<String, Integer>>read(answer.body(), "$.gate"))
			.map((gate) -> new GateView(gate.getOrDefault("units", 0), gate.getOrDefault("tickets", 0)));
	}

	private static Path jar() {
		return Path.of(Objects.requireNonNull(System.getProperty("crash.jar"), "run this test with ./mvnw verify"));
	}

}
