package dev.idempotent.sample.rush;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;

import javax.sql.DataSource;

import com.jayway.jsonpath.JsonPath;
import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.rush.RushPlan.Behaviour;
import dev.idempotent.sample.rush.RushTally.Promise;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;

import static java.nio.charset.StandardCharsets.UTF_8;
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
		String done = awaitDone(path);
		assertThat(JsonPath.<Integer>read(done, "$.finished")).isEqualTo(200);
		assertThat(JsonPath.<Integer>read(done, "$.answers.reserved")).isGreaterThanOrEqualTo(20);
		assertThat(JsonPath.<Integer>read(done, "$.answers.soldOut")).isPositive();
		assertThat(JsonPath.<Integer>read(done, "$.failures.requested")
				+ JsonPath.<Integer>read(done, "$.failures.outages"))
			.isEqualTo(JsonPath.<Integer>read(done, "$.answers.failed"));
		assertThat(JsonPath.<Integer>read(done, "$.failures.givenUp")).isZero();
		assertThat(JsonPath.<Boolean>read(done, "$.verdict.holds")).as(done).isTrue();
		String item = JsonPath.read(done, "$.item");
		String verdict = this.shop.get("/api/flash-sales/" + item + "/verdict").body();
		assertThat(JsonPath.<Boolean>read(verdict, "$.holds")).as(verdict).isTrue();
	}

	@Test
	void letsUsersOfTheNaiveSaleBuyEachUnitOnceWithoutAVerdict() {
		HttpResponse<String> started = start(30, 5, 1, ",\"naive\":true");
		String done = awaitDone(started.headers().firstValue("Location").orElseThrow());
		assertThat(JsonPath.<Integer>read(done, "$.answers.reserved")).isEqualTo(5);
		assertThat(JsonPath.<Integer>read(done, "$.answers.soldOut")).isEqualTo(25);
		assertThat(JsonPath.<Object>read(done, "$.verdict")).isNull();
	}

	@Test
	void runsOneAtATime(@Autowired DataSource dataSource) throws SQLException {
		HttpResponse<String> started;
		try (Connection connection = dataSource.getConnection()) {
			connection.setAutoCommit(false);
			// No user can get a unit, so the first rush is not over.
			connection.createStatement().execute("lock table orders in share mode");
			started = start(1, 1, 1, ",\"naive\":true");
			assertThat(started.statusCode()).isEqualTo(202);
			assertThat(start(1, 1, 1, "").statusCode()).isEqualTo(409);
		}
		awaitDone(started.headers().firstValue("Location").orElseThrow());
	}

	@Tag("long")
	@Test
	void runsFromTheCommandLine(@Autowired Rushes rushes, @Autowired LoggingSystem logging) {
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		RushCommand command = new RushCommand(rushes, new RushProperties(40, 5, 1), logging);
		boolean holds = command.run(new PrintStream(out, true, UTF_8));
		assertThat(holds).as(out.toString(UTF_8)).isTrue();
		assertThat(out.toString(UTF_8)).contains("1 HOLDS", "6 HOLDS");
	}

	@ParameterizedTest
	@CsvSource({ "0, 1, 1", "100001, 1, 1", "1, 0, 1", "1, 100001, 1", "1, 1, 0", "1, 1, 11" })
	void isNotStartedOutOfBounds(int users, int stock, int perUser) {
		assertThat(start(users, stock, perUser, "").statusCode()).isEqualTo(400);
	}

	@Test
	void findsAnswersThatDifferWhenTheirRequestsAreRepeated(@LocalServerPort int port) {
		ShopHttp users = new ShopHttp(List.of(URI.create("http://127.0.0.1:" + port)));
		RushPlan plan = new RushPlan(1, 2, 1, Behaviour.RESERVE, false, false);
		assertThat(users.insist(plan.opening("repeated")).status()).isEqualTo(201);
		Ask ask = plan.ask("repeated", "ann");
		Answer answer = users.insist(ask);
		Repetition truth = new Repetition(users);
		truth.repeat(new Promise(ask, answer.body()));
		assertThat(truth.result(Map.of(), true).problems()).isEmpty();
		Repetition lie = new Repetition(users);
		lie.repeat(new Promise(ask, answer.body().replace("T", " ")));
		lie.repeat(new Promise(plan.ask("repeated", "bob"), answer.body()));
		assertThat(lie.result(Map.of(), true).problems()).hasSize(3);
	}

	@Test
	void isUnknownElsewhere() {
		assertThat(this.shop.get("/api/rushes/unknown").statusCode()).isEqualTo(404);
		assertThat(this.shop.get("/api/flash-sales/unknown/verdict").statusCode()).isEqualTo(404);
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
