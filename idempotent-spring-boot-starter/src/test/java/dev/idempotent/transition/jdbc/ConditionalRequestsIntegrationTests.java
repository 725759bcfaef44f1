package dev.idempotent.transition.jdbc;

import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;

import javax.sql.DataSource;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import dev.idempotent.transition.jdbc.OrderTable.OrderStatus;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.ServletWebRequest;

import static dev.idempotent.transition.jdbc.OrderTable.OrderStatus.PENDING;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * {@code If-Match} with Spring's own check, beside replays.
 */
class ConditionalRequestsIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication application = RunningApplication.of(ConditionalRequestsIntegrationTests::start);

	private final UUID id = UUID.randomUUID();

	private final String key = UUID.randomUUID().toString();

	private final OrderTable orders = OrderTable.of(application.bean(DataSource.class), "conditional_order");

	private static WebApplication start() {
		OrderTable.create(postgres.connect(), "conditional_order", "uuid");
		return WebApplication.start(Orders.class, redis,
				Stream
					.concat(postgres.properties().stream(),
							Stream.of(WebApplication.WITH_DATABASE, "idempotent.jdbc.initialize-schema=always"))
					.toArray(String[]::new));
	}

	@BeforeEach
	void insert() {
		this.orders.insert(this.id, "PENDING");
	}

	@Test
	void getTheirStoredResponseWhenTheyAreRepeatedWithTheOldTag() {
		HttpResponse<byte[]> first = put("PAID", "\"0\"");
		assertThat(first.statusCode()).isEqualTo(200);
		assertThat(first.headers().firstValue("ETag")).hasValue("\"1\"");
		HttpResponse<byte[]> repeated = put("PAID", "\"0\"");
		assertThat(repeated.statusCode()).isEqualTo(200);
		assertThat(repeated.headers().firstValue("Idempotent-Replayed")).hasValue("true");
		assertThat(repeated.headers().firstValue("ETag")).hasValue("\"1\"");
		assertThat(repeated.body()).isEqualTo(first.body());
		assertThat(this.orders.row(this.id)).isEqualTo("PAID 1");
	}

	@Test
	void mayKeepTheirKeyAfterTheirTagWasOld() {
		this.orders.jdbc().update("update conditional_order set version = 7 where id = ?", this.id);
		HttpResponse<byte[]> refused = put("PAID", "\"0\"");
		assertThat(refused.statusCode()).isEqualTo(412);
		assertThat(this.orders.row(this.id)).isEqualTo("PENDING 7");
		assertThat(put("PAID", "\"7\"").statusCode()).isEqualTo(200);
		assertThat(this.orders.row(this.id)).isEqualTo("PAID 8");
	}

	@Test
	void mayKeepTheirKeyAfterTheyHadNoTag() {
		assertThat(put("PAID", null).statusCode()).isEqualTo(428);
		assertThat(put("PAID", "\"0\"").statusCode()).isEqualTo(200);
		assertThat(this.orders.row(this.id)).isEqualTo("PAID 1");
	}

	private HttpResponse<byte[]> put(String status, @Nullable String tag) {
		var request = application.request("/orders/" + this.id + "/status")
			.header("Content-Type", "application/json")
			.header("Idempotency-Key", this.key)
			.PUT(BodyPublishers.ofString("\"" + status + "\""));
		return application.send(((tag != null) ? request.header("If-Match", tag) : request).build());
	}

	@RestController
	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Orders {

		private final GuardedTransitions<OrderStatus> orders;

		private final JdbcClient database;

		Orders(DataSource dataSource, JdbcClient database) {
			this.orders = GuardedTransitions.table(dataSource, "conditional_order", OrderStatus.TRANSITIONS).build();
			this.database = database;
		}

		@PutMapping("/orders/{id}/status")
		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@Nullable ResponseEntity<Map<String, Object>> move(@PathVariable UUID id, @RequestBody OrderStatus to,
				ServletWebRequest request) {
			if (request.getHeader(HttpHeaders.IF_MATCH) == null) {
				return ResponseEntity.status(HttpStatus.PRECONDITION_REQUIRED).build();
			}
			long version = version(id);
			if (request.checkNotModified("\"" + version + "\"")) {
				return null;
			}
			long moved = this.orders.move(id, PENDING, to, version).orThrow();
			return ResponseEntity.ok().eTag("\"" + moved + "\"").body(Map.of("status", to));
		}

		private long version(UUID id) {
			return this.database.sql("select version from conditional_order where id = ?")
				.param(id)
				.query(Long.class)
				.single();
		}

		@ExceptionHandler
		ResponseEntity<Void> conflict(OptimisticLockingFailureException ex) {
			return ResponseEntity.status(HttpStatus.CONFLICT).build();
		}

	}

}
