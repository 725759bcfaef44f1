package dev.idempotent.idempotency.web.transaction;

import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Handlers that use all connections of the pool of their keys for longer than the lease.
 */
@Tag("long")
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class EmptyPoolIntegrationTests {

	private static final int KEYS = 8;

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Test
	void runEachKeyOnceAfterTheirLease() throws Exception {
		String[] properties = with(postgres.properties(), WebApplication.WITH_DATABASE, "idempotent.store=jdbc",
				"idempotent.jdbc.initialize-schema=always", "idempotent.jdbc.table=empty_pool_record",
				"idempotent.lease=4s", "spring.datasource.hikari.maximum-pool-size=2",
				"spring.datasource.hikari.connection-timeout=60000");
		JdbcTemplate observer = new JdbcTemplate(postgres.connect());
		observer.execute("drop table if exists empty_pool_record");
		try (WebApplication application = WebApplication.start(Application.class, List::of, properties)) {
			Hoard hoarders = application.bean(Hoard.class);
			List<CompletableFuture<HttpResponse<byte[]>>> first = send(application);
			await().atMost(60, TimeUnit.SECONDS).until(() -> hoarders.entered.get() == KEYS);
			hoarders.hoard.countDown();
			await().atMost(60, TimeUnit.SECONDS).until(() -> hoarders.hoarding.get() == 2);
			String end = observer.queryForObject("select cast(max(expires_at) as varchar) from empty_pool_record",
					String.class);
			List<CompletableFuture<HttpResponse<byte[]>>> retries = send(application);
			await().atMost(60, TimeUnit.SECONDS)
				.until(() -> observer.queryForObject("select clock_timestamp() > cast(? as timestamptz)", Boolean.class,
						end));
			hoarders.done.countDown();
			assertThat(first).allSatisfy((answer) -> assertThat(answer.get().statusCode()).isEqualTo(200));
			assertThat(retries).allSatisfy((answer) -> assertThat(answer.get().statusCode()).isIn(200, 409));
			assertThat(hoarders.entered).hasValue(KEYS);
		}
	}

	private static List<CompletableFuture<HttpResponse<byte[]>>> send(WebApplication application) {
		return IntStream.range(0, KEYS)
			.mapToObj((i) -> application.postAsync("/hoard", "{}", "Idempotency-Key", "key-" + i))
			.toList();
	}

	private static String[] with(List<String> some, String... others) {
		return Stream.concat(some.stream(), Arrays.stream(others)).toArray(String[]::new);
	}

	/**
	 * The progress of the handlers.
	 */
	static class Hoard {

		private final AtomicInteger entered = new AtomicInteger();

		private final AtomicInteger hoarding = new AtomicInteger();

		private final CountDownLatch hoard = new CountDownLatch(1);

		private final CountDownLatch done = new CountDownLatch(1);

	}

	@RestController
	static class Hoarders {

		private final HikariDataSource pool;

		private final Hoard state;

		Hoarders(HikariDataSource pool, Hoard state) {
			this.pool = pool;
			this.state = state;
		}

		@Idempotent
		@PostMapping("/hoard")
		ResponseEntity<String> hoard() throws SQLException, InterruptedException {
			this.state.entered.incrementAndGet();
			this.state.hoard.await();
			try (Connection connection = this.pool.getConnection()) {
				this.state.hoarding.incrementAndGet();
				this.state.done.await();
				return ResponseEntity.ok("valid " + connection.isValid(5));
			}
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Hoarders.class, Hoard.class })
	static class Application {

	}

}
