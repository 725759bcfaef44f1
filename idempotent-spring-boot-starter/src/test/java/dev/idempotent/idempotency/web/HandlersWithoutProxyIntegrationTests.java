package dev.idempotent.idempotency.web;

import java.net.http.HttpResponse;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.validation.Valid;
import jakarta.validation.constraints.Positive;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Controllers that are records or final classes, whose methods no proxy can watch.
 */
class HandlersWithoutProxyIntegrationTests extends AbstractTomcatAndJettyTests {

	@BeforeParameterizedClassInvocation
	static void start(String container) {
		startWithDatabase(Application.class, container, "idempotent.web.required-for=POST /required");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', value = { "/lease/201|{\"amount\":-1}", "/lease/201|{", "/lease/201|",
			"/transaction/201|{\"amount\":-1}", "/transaction/201|{", "/required|{\"amount\":-1}", "/required|{" })
	void freeTheKeyOfARequestThatTheyWereNotCalledWith(String path, String body) {
		int before = runs();
		HttpResponse<byte[]> refused = post(path, (body != null) ? body : "", this.key);
		assertThat(refused.statusCode()).isEqualTo(400);
		HttpResponse<byte[]> corrected = post(path, "{\"amount\":1}", this.key);
		assertThat(corrected.statusCode()).isEqualTo(201);
		assertThat(isReplay(corrected)).isFalse();
		assertThat(isReplay(post(path, "{\"amount\":1}", this.key))).isTrue();
		assertThat(runs()).isEqualTo(before + 1);
	}

	@ParameterizedTest
	@CsvSource({ "/lease/201, 201", "/lease/404, 404", "/lease/thrown, 404", "/lease/sent, 404",
			"/lease/forwarded, 200", "/lease/later, 201", "/lease/stackless, 410", "/lease/joined, 410",
			"/transaction/201, 201", "/transaction/404, 404", "/transaction/thrown, 404", "/transaction/stackless, 410",
			"/transaction/joined, 410" })
	void storeTheResponseOfACall(String path, int status) {
		int before = runs();
		assertThat(post(path, "{\"amount\":1}", this.key).statusCode()).isEqualTo(status);
		HttpResponse<byte[]> retry = post(path, "{\"amount\":1}", this.key);
		assertThat(retry.statusCode()).isEqualTo(status);
		assertThat(isReplay(retry)).isTrue();
		assertThat(runs()).isEqualTo(before + 1);
		assertThat(post(path, "{\"amount\":2}", this.key).statusCode()).isEqualTo(422);
	}

	@ParameterizedTest
	@ValueSource(strings = { "thrown", "forwarded" })
	void rollBackWhatDoesNotReturn(String ending) {
		post("/transaction/" + ending, "{\"amount\":1}", this.key);
		assertThat(rows()).isZero();
	}

	@Test
	void commitWhatReturns() {
		post("/transaction/201", "{\"amount\":1}", this.key);
		assertThat(rows()).isOne();
	}

	private HttpResponse<byte[]> post(String path, String body, String key) {
		return application.post(path + "?name=" + this.key, body, "Idempotency-Key", key);
	}

	private static int runs() {
		return application.bean(Runs.class).count.get();
	}

	private int rows() {
		return Objects.requireNonNull(application.bean(JdbcTemplate.class)
			.queryForObject("select count(*) from done where name = ?", Integer.class, this.key));
	}

	static final class Runs {

		private final AtomicInteger count = new AtomicInteger();

		private final JdbcTemplate jdbc;

		Runs(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
			jdbc.execute("create table if not exists done (name varchar(100))");
		}

		int run(String name) {
			this.jdbc.update("insert into done values (?)", name);
			return this.count.incrementAndGet();
		}

	}

	record Payment(@Positive int amount) {
	}

	@RestController
	record UnderLease(Runs runs) {

		@Idempotent
		@PostMapping("/lease/{ending}")
		Object pay(@PathVariable String ending, @RequestParam String name, @Valid @RequestBody Payment payment,
				HttpServletRequest request, HttpServletResponse response) throws Exception {
			this.runs.run(name);
			return end(ending, request, response);
		}

		@PostMapping("/required")
		ResponseEntity<?> require(@RequestParam String name, @Valid @RequestBody Payment payment) {
			return ResponseEntity.status(201).body(this.runs.run(name));
		}

		@PostMapping("/shown")
		String show() {
			return "shown";
		}

	}

	@RestController
	static final class InTransaction {

		private final Runs runs;

		InTransaction(Runs runs) {
			this.runs = runs;
		}

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/transaction/{ending}")
		Object pay(@PathVariable String ending, @RequestParam String name, @Valid @RequestBody Payment payment,
				HttpServletRequest request, HttpServletResponse response) throws Exception {
			this.runs.run(name);
			return end(ending, request, response);
		}

	}

	private static Object end(String ending, HttpServletRequest request, HttpServletResponse response)
			throws Exception {
		return switch (ending) {
			case "thrown" -> throw new ResponseStatusException(HttpStatus.NOT_FOUND);
			case "stackless" -> throw new Gone();
			case "joined" -> CompletableFuture.failedFuture(new Gone()).join();
			case "sent" -> {
				response.sendError(404);
				yield ResponseEntity.notFound().build();
			}
			case "later" -> (Callable<?>) () -> ResponseEntity.status(201).body("later");
			case "forwarded" -> forward(request, response);
			default -> ResponseEntity.status(Integer.parseInt(ending)).body("ended");
		};
	}

	private static Object forward(HttpServletRequest request, HttpServletResponse response)
			throws ServletException, java.io.IOException {
		request.getRequestDispatcher("/shown").forward(request, response);
		return ResponseEntity.ok().build();
	}

	@ResponseStatus(HttpStatus.GONE)
	static class Gone extends RuntimeException {

		Gone() {
			super("gone", null, false, false);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ UnderLease.class, InTransaction.class })
	static class Application {

		@Bean
		Runs runs(JdbcTemplate jdbc) {
			return new Runs(jdbc);
		}

	}

}
